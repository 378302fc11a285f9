// Reads recorded transcripts of Claude Code and writes down their structure, without their words: claude-samples.json.
// node test/contract/extract-samples.mjs FOLDER, where FOLDER/NAME holds cmd, exit, stdout and perhaps stdin.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.argv[2];
const samples = readdirSync(folder)
  .sort()
  .map((name) => {
    const read = (file) => readFileSync(join(folder, name, file), "utf8");
    const command = read("cmd").trimEnd().split("\n").slice(2).join("\n");
    const stdin = existsSync(join(folder, name, "stdin")) ? sentBy(read("stdin")) : undefined;
    const lines = read("stdout").split("\n").filter(Boolean);
    const frames = lines.every((line) => line.startsWith("{")) ? lines.map((line) => JSON.parse(line)) : undefined;
    return { name, args: wordsOf(command).slice(1), stdin, exit: JSON.parse(read("exit")).code, frames: frames?.map(structureOf) };
  });
const text = samples.map((sample) => `  ${JSON.stringify(sample)}`).join(",\n");
writeFileSync(join(dirname(fileURLToPath(import.meta.url)), "claude-samples.json"), `[\n${text}\n]\n`);

/** What the host says by itself; its answers depend on what it is asked. */
function sentBy(text) {
  const frames = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return frames.filter(({ type }) => type !== "control_response");
}

function wordsOf(command) {
  return [...command.replaceAll("/sample/cwd", "{cwd}").matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll("'\\''", "'") ?? plain,
  );
}

function structureOf(frame) {
  const { type, subtype, event } = frame;
  const delta = event?.delta?.type ? `/${event.delta.type}` : "";
  const kind = [type, subtype ?? event?.type ?? frame.request?.subtype ?? frame.response?.subtype].filter(Boolean).join("/") + delta;
  return { kind, shape: shapeOf(frame) };
}

/** Names of fields and kinds of values; what tools, models and commands are called is no structure. */
function shapeOf(value, key = "") {
  if (["input", "tool_input", "structured_output", "message_input", "tool_response", "arguments", "params"].includes(key)) return "any";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map((item) => shapeOf(item)).reduce(merge)];
  if (typeof value !== "object") return typeof value;
  if (key === "modelUsage" || key === "model_usage_since_last_result") return { "*": Object.values(value).map((item) => shapeOf(item)).reduce(merge, {}) };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner, name)]));
}

function merge(a, b) {
  return typeof a === "object" && typeof b === "object" && !Array.isArray(a) && !Array.isArray(b) ? { ...a, ...b } : a;
}
