// Part of the standalone command: what `process.binding("tcp_wrap").TCP` of Node is used for, to hear that nobody reads a pipe any more.
import { closeSync } from "node:fs";

const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
const intervalMs = 500;
const errorOrHangUp = 0x08 | 0x10; // POLLERR, POLLHUP

/** The part of Node's handle that is used: `readStart` looks at the descriptor from time to time, and `onread` is called at its end. */
export class PipeStream {
  onread = () => {};
  #descriptor = -1;
  #timer;

  open(descriptor) {
    this.#descriptor = descriptor;
    return 0;
  }

  readStart() {
    const poll = loadPoll();
    if (!poll) return -1;
    this.#timer = setInterval(() => {
      if ((poll(this.#descriptor) & errorOrHangUp) !== 0) this.onread();
    }, intervalMs);
    return 0;
  }

  unref() {
    this.#timer?.unref();
  }

  close() {
    clearInterval(this.#timer);
    closeSync(this.#descriptor);
  }
}

/** poll(2) for one descriptor: what has happened to it. Loading it takes 5 ms, and few runs need it. */
function loadPoll() {
  const { dlopen, ptr } = require("bun:ffi");
  for (const library of libraries) {
    try {
      const { symbols } = dlopen(library, { poll: { args: ["ptr", "u64", "int"], returns: "int" } });
      const entry = new DataView(new ArrayBuffer(8));
      return (descriptor) => {
        entry.setInt32(0, descriptor, true);
        entry.setInt32(4, 0, true);
        symbols.poll(ptr(entry), 1, 0);
        return entry.getInt16(6, true);
      };
    } catch {
      // another C library
    }
  }
  return undefined;
}
