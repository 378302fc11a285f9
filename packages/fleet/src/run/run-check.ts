import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRedactor, makeFolder } from "@outrider/runtime/host";
import { RuntimeError } from "@outrider/runtime";
import type { TaskCheck } from "../tasks/task.ts";
import { runProgram } from "../util/run-program.ts";

export type CheckResult = {
  readonly passed: boolean;
  readonly exitCode: number | null;
  /** The end of what it printed, masked: it is stored, and stands in reports. */
  readonly output: string;
  readonly durationMs: number;
  /** What it wrote down as the reward; null where it wrote none. */
  readonly reward: number | null;
};

const defaultTimeoutMs = 10 * 60_000;
const shownCharacters = 8_000;
/** The kernel takes no word above 128 KiB: a longer command goes by a file. */
const longestWord = 100_000;
const scriptInBox = "/run/outrider-check.sh";

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
  try {
    return await judge(check, place);
  } finally {
    for (const made of [place.scratch, scriptOf(place)]) rmSync(made, { recursive: true, force: true });
  }
}

async function judge(check: TaskCheck, place: CheckPlace): Promise<CheckResult> {
  const { cwd, env, signal } = place;
  const startedAt = Date.now();
  const isLong = Buffer.byteLength(check.command) > longestWord;
  if (isLong) {
    makeFolder(dirname(place.scratch), 0o777);
    writeFileSync(scriptOf(place), check.command);
  }
  const shell = isLong ? [check.sandboxed ? scriptInBox : scriptOf(place)] : ["-c", check.command];
  const [file, args] = check.sandboxed ? ["bwrap", [...boxArguments(check, place), "sh", ...shell]] : ["sh", shell];
  const timeoutMs = check.timeoutMs ?? defaultTimeoutMs;
  const end = await runProgram(file, args, { cwd, env, signal, timeoutMs }).catch((error: unknown) => {
    if (!check.sandboxed || Object(error).code !== "ENOENT") throw error;
    throw new RuntimeError("config", "The check is to run in a sandbox, and bubblewrap (bwrap) is not installed");
  });
  const reward = check.reward ? rewardIn(join(place.scratch, "verifier")) : undefined;
  const isGood = reward === undefined ? end.code === 0 : reward >= 1;
  const late = end.isTimedOut ? `\nThe check took longer than ${timeoutMs / 1000} s` : "";
  return {
    passed: isGood && !end.isTimedOut,
    exitCode: end.code,
    output: createRedactor({ env }).text(`${end.stdout}${end.stderr}${late}`).slice(-shownCharacters),
    durationMs: Date.now() - startedAt,
    reward: reward ?? null,
  };
}

function scriptOf({ scratch }: CheckPlace): string {
  return `${scratch}.sh`;
}

/** `reward.txt` holds a number; `reward.json` a number, or several by name, of which `reward` counts, else the least. One that is none is 0. */
function rewardIn(folder: string): number | undefined {
  const [text, json] = ["reward.txt", "reward.json"].map((name) => readIfThere(join(folder, name)));
  if (text !== undefined) return toReward(text.trim() === "" ? Number.NaN : Number(text));
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null) return toReward(value);
    const named = "reward" in value ? [value.reward] : Object.values(value);
    return toReward(named.length === 0 ? Number.NaN : Math.min(...named.map(toReward)));
  } catch {
    return 0;
  }
}

function toReward(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** The machine to read, the work to write, no network, no other processes. */
function boxArguments({ mounts = {} }: TaskCheck, place: CheckPlace): string[] {
  const { cwd, scratch, readable } = place;
  rmSync(scratch, { recursive: true, force: true });
  makeFolder(scratch, 0o777);
  const own = new Set(["proc", "dev", "tmp", "run", ...Object.keys(mounts).map((path) => path.split("/")[1] ?? ""), "logs"]);
  const seen = readdirSync("/").filter((name) => !own.has(name) && existsSync(join("/", name)));
  const asked = Object.entries(mounts).flatMap(([to, from]) => (from === "WORK" ? ["--bind", cwd, to] : ["--ro-bind", from, to]));
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session"],
    ...seen.flatMap((name) => ["--ro-bind", join("/", name), join("/", name)]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run"],
    ...readable.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...(existsSync(scriptOf(place)) ? ["--ro-bind", scriptOf(place), scriptInBox] : []),
    ...["--bind", scratch, "/logs", ...asked, "--bind", cwd, cwd, "--chdir", cwd],
  ];
}
