import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { type Run, start } from "../e2e/command.ts";
import { drive, type Sending } from "./drive.ts";
import { answerer } from "./host.ts";
import { fits } from "./match.ts";
import type { Transcript } from "./requirement.ts";
import type { Json, JsonRecord } from "./structure.ts";

/** A run of the command, as data. */
export type Scenario = {
  readonly args: readonly string[];
  readonly replies?: readonly ServerReply[];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What stdin holds from the start. */
  readonly stdin?: string;
  /** Lines a host writes, each when a frame that fits has come; stdin is closed after so many results. */
  readonly host?: {
    readonly sends: readonly { readonly frame: Json; readonly after?: JsonRecord; readonly count?: number }[];
    readonly results: number;
  };
  /** Sent when a frame that fits has come. */
  readonly signal?: { readonly name: NodeJS.Signals; readonly after: JsonRecord };
};

export type Played = Transcript & {
  /** What the session has stored; empty where there was none. */
  readonly events: readonly AgentEvent[];
};

export async function play(scenario: Scenario, flavor: readonly string[]): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "outrider-contract-"));
  const [cwd, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(cwd);
  for (const [name, text] of Object.entries(scenario.files ?? {})) writeFileSync(join(cwd, name), text);
  const server = await startModelServer({ replies: scenario.replies ?? [{ text: "hi" }] });
  try {
    const env = {
      ANTHROPIC_API_KEY: "test-key",
      ANTHROPIC_BASE_URL: server.url,
      OUTRIDER_HOME: home,
      OUTRIDER_RETRY_BASE_MS: "5",
      ...scenario.env,
    };
    const args = [...scenario.args, ...flavor];
    const run = scenario.host
      ? await drive(args, hostOf(scenario.host), { cwd, env })
      : await runOnce(args, scenario, { cwd, env });
    const requests = server.requests.map(({ body }) => body as Json); // JSON, as it was received
    return { ...run, frames: framesOf(run), requests, events: await storedIn(join(home, "sessions")) };
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function storedIn(folder: string): Promise<AgentEvent[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
  const [name] = names;
  return name === undefined ? [] : await createFileStore(folder).read(name.replace(/\.jsonl$/, ""));
}

function hostOf({ sends, results }: NonNullable<Scenario["host"]>): Parameters<typeof drive>[1] {
  const sendings = sends.map(({ frame, after, count }): Sending => {
    const line = typeof frame === "string" ? frame : `${JSON.stringify(frame)}\n`;
    return after ? { frame: line, after: { is: (seen) => fits(after, seen), count: count ?? 1 } } : { frame: line };
  });
  return { sends: sendings, answers: answerer({}), results };
}

async function runOnce(
  args: readonly string[],
  { stdin, signal }: Scenario,
  place: { cwd: string; env: Record<string, string> },
): Promise<Run> {
  const { child, done } = start(args, { ...place, ...(stdin !== undefined && { stdin }) });
  if (signal) {
    let text = "";
    let sent = false;
    child.stdout.on("data", (more: string) => {
      text += more;
      const whole = text.split("\n").slice(0, -1).filter(Boolean);
      if (sent || !whole.some((line) => fits(signal.after, JSON.parse(line)))) return;
      sent = true;
      child.kill(signal.name);
    });
  }
  return await done;
}

function framesOf({ stdout }: Run): JsonRecord[] {
  if (!stdout.startsWith("{")) return [];
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line): JsonRecord => JSON.parse(line));
}
