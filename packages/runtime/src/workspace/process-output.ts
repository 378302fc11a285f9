import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { OutputChunk, ProgramCommand } from "./workspace.ts";

/** How long after the end of a program its last words may come. */
export const outputLateMs = 250;
const quietMs = 50;

/** Hands over what a program prints, as fast as it is taken. `onRefused`: a promise of `onOutput` was rejected. */
export function forwardOutput(child: ChildProcess, onOutput: ProgramCommand["onOutput"], onRefused: () => void) {
  let chunks = 0;
  let forwarding = true;
  let refusal: { readonly error: unknown } | undefined;
  const open = new Set<Socket>();
  const taking = new Set<Promise<void>>();

  const take = async (pipe: Socket, taken: Promise<void>): Promise<void> => {
    pipe.pause();
    try {
      await taken;
    } catch (error) {
      forwarding = false;
      refusal ??= { error };
      onRefused();
    }
    pipe.resume();
  };
  const handOver = (chunk: OutputChunk): void | Promise<void> => {
    try {
      return onOutput?.(chunk);
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const hear = (pipe: Socket, chunk: OutputChunk): void => {
    chunks++;
    const taken = forwarding ? handOver(chunk) : undefined;
    if (!taken) return;
    const waiting = take(pipe, taken).finally(() => taking.delete(waiting));
    taking.add(waiting);
  };
  const forward = (stream: "stdout" | "stderr"): Promise<void> => {
    const pipe = child[stream] as Socket | null; // what "pipe" makes; the declared type hides `unref`
    if (!pipe) return Promise.resolve();
    open.add(pipe);
    pipe.on("error", () => {}); // the other end is gone: `close` follows
    pipe.on("data", (bytes: Buffer) => hear(pipe, { stream, bytes }));
    return new Promise((resolve) => {
      pipe.once("close", () => {
        open.delete(pipe);
        resolve();
      });
    });
  };
  const closed = Promise.all([forward("stdout"), forward("stderr")]);

  /** Time in which nobody was ready to take anything does not count. */
  const untilQuiet = async (): Promise<void> => {
    let seen = -1;
    for (let waited = 0; (seen !== chunks || taking.size > 0) && waited < outputLateMs; waited += quietMs) {
      seen = chunks;
      await Promise.all(taking);
      await pause(quietMs, undefined, { ref: false });
      await nextTurn(); // after a stall of ours timers come before the pipes are looked at
    }
  };

  return {
    /**
     * To be called after the exit: everything the program wrote is in the pipes by then. When something in the background still
     * holds them, they are read on and thrown away (a server must not die of a closed pipe) without keeping our own process alive.
     */
    async drained(): Promise<void> {
      await Promise.race([closed, untilQuiet()]);
      await Promise.all(taking);
      forwarding = false;
      for (const pipe of open) pipe.unref();
      if (refusal) throw refusal.error;
    },
  };
}
