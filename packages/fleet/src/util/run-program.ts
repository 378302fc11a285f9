import { spawn } from "node:child_process";

export type ProgramOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Of each stream, its end: what came before is left out. */
  readonly maxBytes?: number | undefined;
};

export type ProgramEnd = {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isTimedOut: boolean;
};

/** How long the output of a program that has ended is waited for: what it left behind may hold its pipes for ever. */
const drainMs = 500;

/** A program to its end. With it, at the time limit, or when the signal comes, what it has started is ended too. */
export async function runProgram(file: string, args: readonly string[], options: ProgramOptions): Promise<ProgramEnd> {
  const { cwd, env, timeoutMs, signal, maxBytes = 1024 * 1024 } = options;
  signal?.throwIfAborted();
  return await new Promise<ProgramEnd>((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const texts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let isTimedOut = false;
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL"); // the group is its own
      } catch {} // it has ended already
    };
    const onTime = (): void => {
      isTimedOut = true;
      end();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(onTime, timeoutMs);
    signal?.addEventListener("abort", end, { once: true });
    const collect = (name: "stdout" | "stderr"): void => {
      const chunks = texts[name];
      let size = 0;
      child[name].on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        while (size - (chunks[0]?.length ?? 0) >= maxBytes) size -= chunks.shift()?.length ?? 0;
      });
    };
    collect("stdout");
    collect("stderr");
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    };
    child.on("error", (error) => {
      settle();
      reject(error);
    });
    child.on("exit", () => {
      end();
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, drainMs).unref();
    });
    child.on("close", (code) => {
      settle();
      if (signal?.aborted) return reject(signal.reason);
      const [stdout = "", stderr = ""] = [texts.stdout, texts.stderr].map((chunks) =>
        Buffer.concat(chunks).subarray(-maxBytes).toString("utf8"),
      );
      resolve({ code, stdout, stderr, isTimedOut });
    });
  });
}
