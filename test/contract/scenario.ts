import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ServerReply } from "../../packages/runtime/src/testing/model-server.ts";
import { model, type Run, start, tempFolder } from "../e2e/command.ts";
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

export type Played = Transcript & { readonly home: string };

export async function play(scenario: Scenario, flavor: readonly string[]): Promise<Played> {
  const cwd = tempFolder("contract");
  const home = tempFolder("contract-home");
  for (const [name, text] of Object.entries(scenario.files ?? {})) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const { server, env: pointed } = await model(scenario.replies ?? [{ text: "hi" }], home);
  const env = { ...pointed, ...scenario.env };
  const args = [...scenario.args, ...flavor];
  const run = scenario.host
    ? await drive(args, hostOf(scenario.host), { cwd, env })
    : await runOnce(args, scenario, { cwd, env });
  return { ...run, home, frames: framesOf(run), requests: server.requests.map(({ body }) => body as Json) }; // JSON, as it was received
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
