import { countLines } from "./cut.ts";
import type { CallKind, CallStatus } from "./run-model.ts";

type Fields = Readonly<Record<string, unknown>>;

/** By what a name says, so that tools of other agents find their place too. The first that fits counts. */
const kinds: readonly (readonly [RegExp, CallKind])[] = [
  [/^(?:task|agent|subagent|delegate|sendmessage)/i, "subagent"],
  [/todo|plan/i, "list"],
  [/web|fetch|http|browse|url/i, "web"],
  [/grep|glob|search|find|ls$|list_/i, "search"],
  [/edit|write|patch|replace|create_file|notebook/i, "edit"],
  [/read|view|^cat\b|open_file/i, "read"],
  [/bash|shell|exec|terminal|command|process|run_/i, "bash"],
];

/** What a call is about, in the order of what tells most. */
const tellingKeys = [
  "command",
  "cmd",
  "pattern",
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "query",
  "url",
  "description",
  "prompt",
  "skill",
  "name",
  "subject",
  "task_id",
] as const;

export function kindOf(tool: string): CallKind {
  const own = tool.replace(/^mcp__.*?__/, "");
  if (own !== tool) return "plug";
  return kinds.find(([name]) => name.test(own))?.[1] ?? "plug";
}

export function previewOf(input: unknown, cwd?: string): string {
  if (typeof input === "string") return firstLine(input);
  if (!isFields(input)) return "";
  const todos = input["todos"];
  if (Array.isArray(todos)) return `${todos.length} ${todos.length === 1 ? "item" : "items"}`;
  const patch = input["input"] ?? input["patch"];
  if (typeof patch === "string" && patch.includes("*** "))
    return firstLine(patch.match(/\*\*\* (?:Add|Update|Delete) File: (.*)/)?.[1] ?? "patch");
  for (const key of tellingKeys) {
    const value = input[key];
    if (typeof value === "string" && value !== "") return shorter(firstLine(value), cwd) + placeOf(input, key, cwd);
    if (Array.isArray(value) && value.every((word) => typeof word === "string")) return firstLine(value.join(" "));
  }
  const rest = Object.values(input).find((value) => typeof value === "string" || typeof value === "number");
  return rest === undefined ? "" : firstLine(String(rest));
}

export function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  if (isFields(input) && Object.keys(input).length === 1 && typeof input["command"] === "string") return input["command"];
  return JSON.stringify(input, null, 2) ?? "";
}

/** Input as people write it, without the quotes and backslashes of JSON; what has parts of its own, or is no JSON, stays as it is. */
export function readableInput(text: string): string {
  let input: unknown;
  try {
    input = text.startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return text; // cut, or a command that begins like that
  }
  const fields = isFields(input) ? Object.entries(input) : [];
  if (fields.length === 0 || fields.some(([, value]) => typeof value === "object" && value !== null)) return text;
  return fields.map(([key, value]) => fieldText(key, String(value))).join("\n");
}

function fieldText(key: string, value: string): string {
  return value.includes("\n") ? `${key}:\n${value.replace(/^/gm, "  ")}` : `${key}: ${value}`;
}

/** The words on the right of a call that say how it went. */
export function resultOf(facts: { status: CallStatus; kind: CallKind; output: string; exitCode?: number | undefined }): string {
  const { status, kind, output, exitCode } = facts;
  if (status === "denied") return "Denied";
  if (status === "interrupted") return "Interrupted";
  if (status === "unknown") return "Outcome unknown";
  if (status === "running") return "Running";
  if (status === "waiting") return "Waiting";
  if (exitCode !== undefined && exitCode !== 0) return `exit ${exitCode}`;
  if (status === "error") return shorten(firstLine(output.replace(/^(?:<[^>]+>\s*)?(?:error:?\s*)/i, "")), 48) || "Failed";
  if (kind === "edit" || kind === "list" || output.trim() === "") return "";
  const lines = countLines(output);
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}

export function firstLine(text: string): string {
  const line = text.trimStart().split(/[\r\n]/, 1)[0] ?? "";
  return shorten(line, 300);
}

/** What a text says first, for a headline: one sentence, without the marks of Markdown. A heading of a word or two ("Done") says too little. */
export function headline(text: string): string {
  const [, heading, rest = ""] = /^\s*#+[ \t]+([^\n]*)\n\s*([\p{L}\p{N}`*"'“(].*)/su.exec(text) ?? [];
  if (heading !== undefined && heading.trim().split(/\s+/).length < 3) return headline(rest);
  const line = firstLine(text.replace(/^(?:\s*#+\s*|\s*[-*]\s+)/, "")).replace(/\*\*|__|`/g, "");
  const sentence = /^.{12,}?[.!?](?=\s)/.exec(line)?.[0] ?? line;
  return shorten(sentence, 120);
}

export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function placeOf(input: Fields, key: string, cwd: string | undefined): string {
  if (key !== "pattern" || typeof input["path"] !== "string") return "";
  const place = shorter(input["path"], cwd);
  return place === "" || place === "." ? "" : ` in ${place}`;
}

/** A path below the working folder, from there. */
export function shorter(text: string, cwd: string | undefined): string {
  return cwd && text.startsWith(`${cwd}/`) ? text.slice(cwd.length + 1) : text;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
