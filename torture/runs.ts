import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentEvent } from "../packages/runtime/src/protocol/events.ts";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { finalAnswer, promptFor, readMarks } from "./scripted-agent.ts";

/** A home, a project and a session of its own. */
export type Scene = { folder: string; home: string; project: string; sessionId: string; url: string; steps: number };

/** `at` and `how` as in fault-shim.cjs; `root` is the part of the home that counts. */
export type Fault = { at: number; how: string; root: "home" | "sessions" };

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string; operations: number };

export type Programs = { command: string; resume: string; tasks: string; soak: string; shim: string };

let scenes = 0;

export function openScene(options: { url: string; steps: number; home?: string }): Scene {
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-"));
  const project = join(folder, "project");
  mkdirSync(project);
  const home = options.home ?? join(folder, "home");
  return { folder, home, project, sessionId: `torture-${process.pid}-${++scenes}`, url: options.url, steps: options.steps };
}

export function closeScene(scene: Scene): void {
  rmSync(scene.folder, { recursive: true, force: true });
}

/** The built command, as a user runs it. */
export async function runCommand(programs: Programs, scene: Scene, fault?: Fault & { killAfterMs?: number }): Promise<Ended> {
  const flags = ["--session-id", scene.sessionId, "--allowedTools", "Bash,Write", "--output-format", "stream-json"];
  return await runChild([programs.command, "-p", promptFor(scene.steps), ...flags], { programs, scene, fault });
}

/** Goes on with the session in a process of its own, or begins it when nothing of it was stored. */
export async function runResume(programs: Programs, scene: Scene, fault?: Fault & { sync?: string }): Promise<Ended> {
  const { home, project, sessionId, url, steps } = scene;
  const args = [home, project, sessionId, url, String(steps), fault?.sync ?? "batch"];
  return await runChild([programs.resume, ...args], { programs, scene, fault });
}

type Start = { programs: Programs; scene: Scene; fault: (Fault & { killAfterMs?: number }) | undefined };

/** A program of its own, with the shim that disturbs it. */
export async function runChild(args: string[], { programs, scene, fault }: Start): Promise<Ended> {
  const counted = join(scene.folder, `operations-${args.length}`);
  rmSync(counted, { force: true });
  const child = spawn(process.execPath, ["--require", programs.shim, ...args], {
    cwd: scene.project,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: scene.folder,
      ANTHROPIC_API_KEY: "torture",
      ANTHROPIC_BASE_URL: scene.url,
      OUTRIDER_HOME: scene.home,
      TORTURE_ROOT: fault?.root === "sessions" ? join(scene.home, "sessions") : scene.home,
      TORTURE_AT: String(fault?.at ?? 0),
      TORTURE_HOW: fault?.how ?? "",
      TORTURE_COUNT: counted,
    },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const timer = fault?.killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), fault.killAfterMs);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on("close", (exitCode, name) => resolve([exitCode, name]));
  });
  clearTimeout(timer);
  return { code, signal, stdout, stderr, operations: readCount(counted) };
}

function readCount(path: string): number {
  try {
    return Number(process.getBuiltinModule("node:fs").readFileSync(path, "utf8"));
  } catch {
    return 0;
  }
}

export async function readSession(scene: Scene): Promise<AgentEvent[]> {
  return await createFileStore(join(scene.home, "sessions")).read(scene.sessionId);
}

/** What the process had shown and the log does not have. Only whole lines were shown. */
export function lostEvents(shown: string, stored: readonly AgentEvent[]): string[] {
  const calls = new Set(stored.flatMap((event) => (event.type === "message.ended" ? event.message.content : [])).flatMap(callId));
  const results = new Set(stored.flatMap((event) => (event.type === "tool.ended" ? [event.callId] : [])));
  const turns = stored.filter((event) => event.type === "turn.ended").length;
  const lost: string[] = [];
  for (const frame of framesIn(shown)) {
    if (frame.type === "system" && stored.length === 0) lost.push("the start of the session");
    if (frame.type === "result" && turns === 0) lost.push("the end of the turn");
    for (const block of frame.message?.content ?? []) {
      if (block.type === "tool_use" && block.id && !calls.has(block.id)) lost.push(`the call ${block.id}`);
      if (block.type === "tool_result" && block.tool_use_id && !results.has(block.tool_use_id))
        lost.push(`the result of ${block.tool_use_id}`);
    }
  }
  return lost;
}

export type Frame = {
  type: string;
  is_error?: boolean;
  result?: string;
  error?: { code?: string };
  message?: { content: { type: string; id?: string; tool_use_id?: string }[] };
};

export function framesIn(stdout: string): Frame[] {
  const lines = stdout.split("\n").slice(0, -1).filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Frame); // printed by the command under test
}

function callId(part: { type: string }): string[] {
  return part.type === "tool-call" && "callId" in part ? [String(part.callId)] : [];
}

/** Undefined when the session has come to the same end as one that nothing happened to. */
export function wrongEnd(scene: Scene, stored: readonly AgentEvent[]): string | undefined {
  const last = stored.findLast((event) => event.type === "turn.ended");
  if (last?.outcome.type !== "completed") return `the last turn ended as ${JSON.stringify(last?.outcome)}`;
  if (last.outcome.text !== finalAnswer(scene.steps)) return `another answer: ${last.outcome.text}`;
  const marks = readMarks(scene.project);
  for (let step = 1; step <= scene.steps; step++) {
    const times = marks.get(step) ?? 0;
    if (times > 1) return `step ${step} was done ${times} times`;
    if (times === 0 && step % 10 !== 0) return `step ${step} was never done`;
  }
  return undefined;
}
