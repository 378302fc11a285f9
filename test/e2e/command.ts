import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type ModelServerOptions, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";

export const projectRoot: string = process.env["OUTRIDER_ROOT"] ?? process.cwd();
export const bin: string = join(projectRoot, "packages/cli/bin/outrider.js");

/** The Node that runs the command: the one that runs the tests, so that `npm test -- --node PATH` tests the product on it. */
const node = process.execPath;

export type Run = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string; ms: number };
export type Started = { child: ChildProcessWithoutNullStreams; done: Promise<Run> };
export type RunOptions = {
  /** Written to stdin, which is then closed; without it stdin is empty and closed; `"open"` leaves it open. */
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

export function start(args: readonly string[], options: RunOptions = {}): Started {
  const startedAt = Date.now();
  const child = spawn(node, [bin, ...args], { cwd: options.cwd ?? projectRoot, env: cleanEnv(options.env) });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {}); // a command that has ended does not read
  if (options.stdin !== "open") child.stdin.end(options.stdin ?? "");
  const done = new Promise<Run>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr, ms: Date.now() - startedAt }));
  });
  return { child, done };
}

export async function run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  return await start(args, options).done;
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
export async function eventually(check: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Never happened: ${what}`);
}

/** Processes whose command line holds `marker`, this one excepted. */
export function processesWith(marker: string): number[] {
  const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs");
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(marker) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|TMPDIR|LANG|LC_.*)$/.test(name));
  return { ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""])), ...extra };
}
