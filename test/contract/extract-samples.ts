/**
 * Writes down the structure of recorded transcripts, without their words. FOLDER/NAME holds cmd, exit, stdout and perhaps stdin, and what was
 * set up before (fixture.json) and marked by hooks (hook_inputs.json); all of them, or those that are named:
 * npx esbuild test/contract/extract-samples.ts --bundle --platform=node --format=esm | node --input-type=module - FOLDER [NAME…] > test/contract/claude-samples.json
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonRecord, type Shape, structuresOf } from "./structure.ts";

const [folder = ".", ...chosen] = process.argv.slice(2);
const shapes: string[] = [];
const samples = readdirSync(folder)
  .filter((name) => (chosen.length === 0 ? existsSync(join(folder, name, "cmd")) : chosen.includes(name)))
  .sort()
  .map((name) => JSON.stringify(readSample(name)));
process.stdout.write(`{"shapes":[\n${shapes.join(",\n")}\n],"samples":[\n${samples.join(",\n")}\n]}\n`);

function readSample(name: string): unknown {
  const read = (file: string): string => readFileSync(join(folder, name, file), "utf8");
  const has = (file: string): boolean => existsSync(join(folder, name, file));
  const command = read("cmd").trimEnd().split("\n").slice(2).join("\n");
  const lines = read("stdout").split("\n").filter(Boolean);
  return {
    name,
    ...(command.includes("rc=$?") ? { args: [], typed: typedIn(command) } : { args: wordsOf(command, name).slice(1) }),
    ...environmentIn(read("cmd")),
    ...(has("git_after.txt") && { git: true }),
    ...(has("stdin") && read("stdin").trim() !== "" && { stdin: sentBy(read("stdin")), answers: answersIn(read("stdin")) }),
    ...(has("fixture.json") && { files: filesIn(read("fixture.json"), name) }),
    ...(has("hook_inputs.json") && { marks: marksIn(read("hook_inputs.json")) }),
    exit: JSON.parse(read("exit")).code,
    ...(!read("stdout").startsWith("{") && { text: read("stdout") }),
    frames: entriesOf(lines.filter((line) => line.startsWith("{")).map((line): JsonRecord => JSON.parse(line))),
  };
}

/** A third number where a frame is of an agent: which one, by the order in which they begin. */
function entriesOf(frames: readonly JsonRecord[]): (readonly [string, number] | readonly [string, number, number])[] {
  return structuresOf(frames).map(({ kind, shape, lane }) =>
    lane === 0 ? ([kind, numberOf(shape)] as const) : ([kind, numberOf(shape), lane] as const),
  );
}

/** Prompts that were run one after the other. */
function typedIn(command: string): string[] {
  return [...command.matchAll(/claude -p (\S+) /g)].map(([, prompt = ""]) => prompt);
}

/** What a scenario sets beside what all of them do. */
function environmentIn(command: string): { env?: Record<string, string> } {
  const all = JSON.parse(/^# env: (.*)$/m.exec(command)?.[1] ?? "{}") as Record<string, string>;
  const common = /^(PATH|HOME|LANG|ANTHROPIC_|DISABLE_|CLAUDE_CODE_DISABLE_NONESSENTIAL)/;
  const own = Object.entries(all).filter(([name]) => !common.test(name));
  return own.length === 0 ? {} : { env: Object.fromEntries(own) };
}

function numberOf(shape: Shape): number {
  const text = JSON.stringify(shape);
  const known = shapes.indexOf(text);
  return known === -1 ? shapes.push(text) - 1 : known;
}

/** What the host says by itself; its answers depend on what it is asked. */
function sentBy(text: string): JsonRecord[] {
  const frames = text
    .split("\n")
    .filter(Boolean)
    .map((line): JsonRecord => JSON.parse(line));
  return frames.filter(({ type }) => type !== "control_response");
}

/** What the host was asked and answered: permissions, dialogs, questions of servers. */
function answersIn(text: string): JsonRecord[] {
  const frames = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { type: string; response?: { response?: JsonRecord } });
  return frames.flatMap(({ type, response }) => (type === "control_response" && response?.response ? [response.response] : []));
}

function filesIn(text: string, name: string): Record<string, string> {
  const { files } = JSON.parse(text) as { files: Record<string, string> };
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => {
      return [path, content.replaceAll(`/scenario/${name}`, "{top}").replaceAll("/scenario/plgcli", "{top}")];
    }),
  );
}

/** How often a hook has said that it ran. */
function marksIn(text: string): Record<string, number> {
  const marks = Object.entries(JSON.parse(text) as Record<string, unknown>).filter(([file]) => file.endsWith(".txt"));
  return Object.fromEntries(marks.map(([file, content]) => [file, String(content).split("\n").filter(Boolean).length]));
}

function wordsOf(command: string, name: string): string[] {
  return [
    ...command
      .replaceAll("/sample/cwd", "{cwd}")
      .replaceAll(`/scenario/${name}`, "{top}")
      .replaceAll("{top}/cwd", "{cwd}")
      .replaceAll("/scenario/plgcli", "{top}")
      .replace(/\/scenario\/\w+\/cwd/g, "{cwd}")
      .matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g),
  ].map(([, quoted, plain]) => quoted?.replaceAll("'\\''", "'") ?? plain ?? "");
}
