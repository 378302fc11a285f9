/**
 * Writes down the structure of recorded transcripts, without their words. FOLDER/NAME holds cmd, exit, stdout and perhaps stdin:
 * npx esbuild test/contract/extract-samples.ts --bundle --platform=node --format=esm | node --input-type=module - FOLDER > test/contract/claude-samples.json
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonRecord, type Shape, structureOf } from "./structure.ts";

const folder = process.argv[2] ?? ".";
const shapes: string[] = [];
const samples = readdirSync(folder)
  .sort()
  .map((name) => JSON.stringify(readSample(name)));
process.stdout.write(`{"shapes":[\n${shapes.join(",\n")}\n],"samples":[\n${samples.join(",\n")}\n]}\n`);

function readSample(name: string): unknown {
  const read = (file: string): string => readFileSync(join(folder, name, file), "utf8");
  const command = read("cmd").trimEnd().split("\n").slice(2).join("\n");
  const lines = read("stdout").split("\n").filter(Boolean);
  return {
    name,
    args: wordsOf(command).slice(1),
    ...(existsSync(join(folder, name, "stdin")) && { stdin: sentBy(read("stdin")) }),
    exit: JSON.parse(read("exit")).code,
    ...(!read("stdout").startsWith("{") && { text: read("stdout") }),
    frames: lines.filter((line) => line.startsWith("{")).map((line) => toEntry(JSON.parse(line))),
  };
}

function toEntry(frame: JsonRecord): [string, number] {
  const { kind, shape } = structureOf(frame);
  return [kind, numberOf(shape)];
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

function wordsOf(command: string): string[] {
  return [...command.replaceAll("/sample/cwd", "{cwd}").matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll("'\\''", "'") ?? plain ?? "",
  );
}
