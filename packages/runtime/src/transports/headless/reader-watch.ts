import { closeSync, constants, fstatSync, openSync, readlinkSync, writeSync } from "node:fs";

/**
 * Calls back once when nobody can read any more what is written to this descriptor, without writing anything to it. Only pipes and
 * sockets of Linux tell; elsewhere, and for files, terminals and named pipes (whose readers may come back), it never calls. It does
 * not keep the process alive. Answers how to stop it.
 */
export function watchReader(descriptor: number, onGone: () => void): () => void {
  try {
    if (process.platform !== "linux") return () => {};
    if (fstatSync(descriptor).isSocket()) return watchSocket(descriptor, onGone);
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith("pipe:[") ? watchPipe(descriptor, onGone) : () => {};
  } catch {
    return () => {}; // no /proc, or a descriptor that is closed: the next line tells
  }
}

const intervalMs = 1_000;

/** A write of nothing reaches nobody, but fails when the other end is closed. */
function watchSocket(descriptor: number, onGone: () => void): () => void {
  const timer = setInterval(() => {
    try {
      writeSync(descriptor, new Uint8Array(0));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) return;
      clearInterval(timer);
      onGone();
    }
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * A pipe takes a write of nothing whether it is read or not, and opening it again succeeds as well. Only poll(2) tells, and of Node's
 * streams only one that is told to read polls: on the writing end of a pipe it wakes up for nothing but the last reader's leaving.
 * Streams of pipes refuse to read from a writing end; those of sockets do not ask.
 */
function watchPipe(descriptor: number, onGone: () => void): () => void {
  const Stream = socketStream();
  if (!Stream) return () => {};
  const own = openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  const stream = new Stream(0);
  if (stream.open(own) !== 0) {
    closeSync(own);
    return () => {};
  }
  let open = true;
  const stop = (): void => {
    if (open) stream.close(); // and the descriptor with it
    open = false;
  };
  stream.onread = () => {
    stop();
    onGone();
  };
  if (stream.readStart() !== 0) stop();
  else stream.unref();
  return stop;
}

interface SocketStream {
  /** Called with what was read, or with why nothing could be. */
  onread: () => void;
  open(descriptor: number): number;
  readStart(): number;
  unref(): void;
  close(): void;
}

type Inside = { binding(name: "tcp_wrap"): { readonly TCP?: new (type: 0) => SocketStream } };

/** What `net` is made of; there is no public way to it. Where a later Node has none, a reader that left is noticed at the next line. */
function socketStream(): (new (type: 0) => SocketStream) | undefined {
  try {
    return (process as unknown as Inside).binding("tcp_wrap").TCP; // left out of the declared type because it is not public
  } catch {
    return undefined;
  }
}
