import { randomUuid } from "../util/unique-ids.ts";
import { guardProcesses, ownMark } from "./process-guard.ts";
import { endProcesses, killAtExit } from "./process-sweep.ts";

const maxOutput = 64 * 1024;
const maxWords = 500;

export type HelperPlace = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** The setting that names the program, for messages. */
  readonly name: string;
};

/** What a program prints that settings name because it knows a secret. What it prints is no part of an error. */
export async function outputOfHelper(command: string, { cwd, env, timeoutMs, name }: HelperPlace): Promise<string> {
  const mark = `${ownMark()}.helper-${randomUuid()};`;
  const guarded = await guardProcesses();
  const child = process.getBuiltinModule("node:child_process").spawn("sh", ["-c", command], {
    cwd,
    env: { ...env, OUTRIDER_PROCESS_SCOPE: `${env["OUTRIDER_PROCESS_SCOPE"] ?? ""}${mark}` },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own, so that all of it can be ended
  });
  const forget = killAtExit(() => ({ mark, group: child.pid }));
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] = (output[stream] + text).slice(0, maxOutput);
    });
  let timer: NodeJS.Timeout | undefined;
  try {
    const problem = await new Promise<string | undefined>((resolve) => {
      timer = setTimeout(() => resolve(`did not end within ${timeoutMs / 1000} s`), timeoutMs);
      child.once("error", (error) => resolve(`could not be started: ${error.message}`));
      child.once("close", (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`));
    });
    if (problem === undefined) return output.stdout;
    const said = output.stderr.trim().slice(0, maxWords);
    throw new Error(`the ${name} ${problem}${said === "" ? "" : ` and said: ${said}`}`);
  } finally {
    clearTimeout(timer);
    await endProcesses({ mark, group: child.pid, limit: guarded.limitIfLast() });
    forget();
    guarded.release();
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
