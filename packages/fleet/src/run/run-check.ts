import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import type { TaskCheck } from "../tasks/task.ts";
import { runProgram } from "../util/run-program.ts";

export type CheckResult = {
  readonly passed: boolean;
  readonly exitCode: number | null;
  /** The end of what it printed. */
  readonly output: string;
  readonly durationMs: number;
};

const defaultTimeoutMs = 10 * 60_000;
const shownCharacters = 8_000;

export type CheckPlace = {
  readonly cwd: string;
  /** A folder of its own, for what it writes beside the work. */
  readonly scratch: string;
  /** Folders that the work needs, wherever they are. */
  readonly readable: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

/** Whether the work is good, as the task's own command sees it. One that takes too long has not passed. */
export async function runCheck(check: TaskCheck, place: CheckPlace): Promise<CheckResult> {
  const { cwd, env, signal } = place;
  const startedAt = Date.now();
  const shell = ["-c", check.command];
  const [file, args] = check.sandboxed ? ["bwrap", [...boxArguments(check, place), "sh", ...shell]] : ["sh", shell];
  const timeoutMs = check.timeoutMs ?? defaultTimeoutMs;
  const end = await runProgram(file, args, { cwd, env, signal, timeoutMs }).catch((error: unknown) => {
    if (!check.sandboxed || Object(error).code !== "ENOENT") throw error;
    throw new RuntimeError("config", "The check is to run in a sandbox, and bubblewrap (bwrap) is not installed");
  });
  const late = end.isTimedOut ? `\nThe check took longer than ${timeoutMs / 1000} s` : "";
  return {
    passed: end.code === 0 && !end.isTimedOut,
    exitCode: end.code,
    output: `${end.stdout}${end.stderr}${late}`.slice(-shownCharacters),
    durationMs: Date.now() - startedAt,
  };
}

/** The machine to read, the work to write, no network, no other processes. */
function boxArguments({ mounts = {} }: TaskCheck, { cwd, scratch, readable }: CheckPlace): string[] {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const own = new Set(["proc", "dev", "tmp", "run", ...Object.keys(mounts).map((path) => path.split("/")[1] ?? ""), "logs"]);
  const seen = readdirSync("/").filter((name) => !own.has(name) && existsSync(join("/", name)));
  const asked = Object.entries(mounts).flatMap(([to, from]) => (from === "WORK" ? ["--bind", cwd, to] : ["--ro-bind", from, to]));
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session"],
    ...seen.flatMap((name) => ["--ro-bind", join("/", name), join("/", name)]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run"],
    ...readable.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...["--bind", scratch, "/logs", ...asked, "--bind", cwd, cwd, "--chdir", cwd],
  ];
}
