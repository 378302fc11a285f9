import { closeSync, openSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A socket beside a lock: whoever shares the file system and the kernel can tell by it whether the lock's owner lives, from any container. */
export interface Door {
  close(): void;
}

/** Where the owner with this token would have its door: under a short name, whatever the lock is called. */
export function doorOf(lock: string, token: string): string {
  return join(dirname(lock), `.${token.slice(0, 8)}.door`);
}

export function isDoor(name: string): boolean {
  return /^\.[0-9a-f]{8}\.door$/.test(name);
}

/** Undefined where there can be none: then only signs of life tell. */
export async function openDoor(path: string): Promise<Door | undefined> {
  const { createServer } = process.getBuiltinModule("node:net");
  const server = createServer((visitor) => visitor.destroy());
  const isOpen = await atShortPath(path, async (short) => {
    server.listen(short);
    return await settled(server, "listening");
  });
  if (isOpen !== true) return undefined;
  server.unref();
  return {
    close() {
      server.close();
      remove(path);
    },
  };
}

/** Does the owner behind this door live? Undefined when that cannot be told. */
export async function knock(path: string): Promise<boolean | undefined> {
  const { connect } = process.getBuiltinModule("node:net");
  return await atShortPath(path, async (short) => {
    const socket = connect({ path: short });
    const answer = await settled(socket, "connect");
    socket.destroy();
    if (answer === true || answer === "EAGAIN") return true;
    // Nobody listens, and the file is still there: its owner had no time to remove it.
    return answer === "ECONNREFUSED" ? false : undefined;
  });
}

/** True, or the code of the failure. */
function settled(emitter: NodeJS.EventEmitter, event: string): Promise<true | string> {
  return new Promise((resolve) => {
    emitter.once(event, () => resolve(true));
    emitter.once("error", (error: NodeJS.ErrnoException) => resolve(String(error.code)));
  });
}

/** Names of sockets may have 107 bytes, and folders of sessions lie deep: the kernel's own short name for the folder stands in. */
async function atShortPath<Answer>(path: string, use: (short: string) => Promise<Answer>): Promise<Answer | undefined> {
  let folder: number | undefined;
  try {
    folder = openSync(dirname(path), "r");
    return await use(`/proc/self/fd/${folder}/${basename(path)}`);
  } catch {
    return undefined; // no descriptor left, or no such folder
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
}
