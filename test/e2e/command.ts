import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type ModelServerOptions, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";

export const projectRoot: string = process.env["OUTRIDER_ROOT"] ?? process.cwd();

/** An executable file to be tested in place of the build, such as the standalone command. */
const tested = process.env["OUTRIDER_TEST_COMMAND"];
export const bin: string = tested ?? join(projectRoot, "packages/cli/bin/outrider.js");
/** What `bin` is given to: the Node that runs the tests, so that `npm test -- --node PATH` tests the product on it. */
export const launcher: string = tested ? "/usr/bin/env" : process.execPath;
export const isStandalone: boolean = tested !== undefined;

export type Run = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string; ms: number };
export type Started = { child: ChildProcessWithoutNullStreams; done: Promise<Run> };
export type RunOptions = {
  /** A file with this content is stdin; `"open"` is a pipe that says nothing and stays open; without it stdin is empty. */
  stdin?: string | Buffer | "open";
  env?: Record<string, string>;
  cwd?: string;
};

/** A folder that is gone when the test file is done. */
export function tempFolder(name = "e2e"): string {
  const folder = mkdtempSync(join(tmpdir(), `outrider-${name}-`));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Nobody's settings: those of whoever runs the tests must not change them. */
export const emptyHome: string = tempFolder("home");

export function start(args: readonly string[], options: RunOptions = {}): Started {
  const startedAt = Date.now();
  const stdin = openStdin(options.stdin);
  const child = spawn(launcher, [bin, ...args], {
    cwd: options.cwd ?? projectRoot,
    env: cleanEnv(options.env),
    stdio: [stdin ?? "pipe", "pipe", "pipe"],
  }) as ChildProcessWithoutNullStreams; // stdin is null with a file, and nobody writes to it then
  if (stdin !== undefined) closeSync(stdin);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const done = new Promise<Run>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr, ms: Date.now() - startedAt }));
  });
  return { child, done };
}

export async function run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  return await start(args, options).done;
}

/** A file, not a pipe: what a pipe holds when the command looks depends on how busy the machine is. */
function openStdin(content: RunOptions["stdin"]): number | undefined {
  if (content === "open") return undefined;
  const folder = mkdtempSync(join(tmpdir(), "outrider-stdin-"));
  writeFileSync(join(folder, "stdin"), content ?? "");
  const file = openSync(join(folder, "stdin"), "r");
  rmSync(folder, { recursive: true });
  return file;
}

/** A model server and the environment that points the command at it. */
export async function model(replies: ModelServerOptions["replies"], home: string) {
  const server = await startModelServer({ replies });
  after(() => server.close());
  const env = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: server.url, OUTRIDER_HOME: home, OUTRIDER_RETRY_BASE_MS: "5" };
  return { server, env };
}

export function lines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Resolves when `check` is true; polls, and gives up after ten seconds. */
export async function eventually(check: () => boolean | Promise<boolean>, what: string, withinMs = 10_000): Promise<void> {
  for (let tries = 0; tries < withinMs / 10; tries++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Never happened: ${what}`);
}

/** Processes whose command line holds `marker`, this one excepted. */
export function processesWith(marker: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(marker) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|TMPDIR|LANG|LC_.*)$/.test(name));
  return { HOME: emptyHome, ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""])), ...extra };
}

/** The command has begun to listen for signals: for SIGHUP too, which Node itself does not. Where that cannot be seen, it is hoped for. */
export function handlesSignals(pid: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & (1n << BigInt(constants.signals.SIGHUP - 1))) !== 0n;
  } catch {
    return false; // not there yet
  }
}
