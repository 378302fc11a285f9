import { resolve } from "node:path";
import { isPermissionMode, type JsonObject, permissionModes, RuntimeError } from "@outrider/runtime";
import { editDistance, nearest } from "@outrider/runtime/host";
import { toDuration } from "../util/duration.ts";
import type { BatchTask, TaskCheck } from "./task.ts";

/** What holds for tasks that do not say it themselves, such as flags of the command. */
export type TaskDefaults = Partial<Omit<BatchTask, "id" | "prompt" | "labels">> & {
  /** A template with `{{column}}` for tasks without a prompt of their own. */
  readonly prompt?: string | undefined;
};

/** Where a row stands: paths start at `folder`, `index` is its place among the tasks, `where` is for messages. */
export type RowPlace = { readonly folder: string; readonly where: string; readonly index: number };

const fields = [
  "id",
  "prompt",
  "cwd",
  "git",
  "seed",
  "provider",
  "model",
  "models",
  "tools",
  "allowedTools",
  "disallowedTools",
  "permissionMode",
  "systemPrompt",
  "appendSystemPrompt",
  "schema",
  "maxTurns",
  "maxBudgetUsd",
  "deadline",
  "attachments",
  "check",
  "repetitions",
  "approvals",
  "labels",
];

/** A row of a tasks file as a task. Columns that are no field of a task are its labels. */
export function parseTask(row: JsonObject, place: RowPlace, defaults: TaskDefaults = {}): BatchTask {
  const { folder, where, index } = place;
  const text = (name: string): string | undefined => {
    const value = row[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "string" || typeof value === "number") return String(value);
    throw wrong(where, `${name} must be a text`);
  };
  const words = (name: string): readonly string[] | undefined => wordsOf(row[name], `${where}: ${name}`);
  const number = (name: string, isWhole: boolean): number | undefined => {
    const value = row[name];
    if (value === undefined || value === null || value === "") return undefined;
    const given = Number(value);
    if (given > 0 && Number.isFinite(given) && (!isWhole || Number.isInteger(given))) return given;
    throw wrong(where, `${name} must be a ${isWhole ? "whole number" : "number"} above 0, not ${JSON.stringify(value)}`);
  };
  for (const name of Object.keys(row)) {
    const guess = fields.includes(name) ? undefined : misspelt(name);
    if (guess !== undefined)
      throw wrong(where, `has no field ${name}; did you mean ${guess}?`, "What is meant as a label belongs into labels: { … }");
  }
  const id = text("id") ?? String(index + 1);
  const template = text("prompt") ?? defaults.prompt;
  if (template === undefined)
    throw wrong(where, `task ${id} has no prompt`, "Give it one, or a template for all: --prompt 'Fix {{column}}'");
  const mode = text("permissionMode") ?? defaults.permissionMode;
  if (mode !== undefined && !isPermissionMode(mode))
    throw wrong(where, `permissionMode is one of ${permissionModes.join(", ")}, not ${mode}`);
  const cwd = text("cwd");
  const git = gitOf(row["git"], where, folder) ?? defaults.git;
  const seed = text("seed");
  const deadline = text("deadline");
  const others = Object.entries(row).filter(([name]) => !fields.includes(name));
  const given = row["labels"] ?? {};
  if (typeof given !== "object" || Array.isArray(given)) throw wrong(where, "labels must be an object");
  const labels = { ...given, ...Object.fromEntries(others) } as JsonObject; // both are of JSON
  const task: BatchTask = {
    ...withoutPrompt(defaults),
    ...present({
      provider: text("provider"),
      model: text("model"),
      models: words("models"),
      tools: words("tools"),
      allowedTools: words("allowedTools"),
      disallowedTools: words("disallowedTools"),
      systemPrompt: text("systemPrompt"),
      appendSystemPrompt: text("appendSystemPrompt"),
      schema: schemaOf(row["schema"], where),
      maxTurns: number("maxTurns", true),
      maxBudgetUsd: number("maxBudgetUsd", false),
      deadlineMs: deadline === undefined ? undefined : toDuration(`${where}: deadline`, deadline),
      attachments: words("attachments")?.map((path) => resolve(folder, path)),
      check: checkOf(row["check"], where, folder),
      repetitions: number("repetitions", true),
      approvals: booleanOf(row["approvals"], `${where}: approvals`),
    }),
    id,
    prompt: fillTemplate(template, row, where),
    ...present({ permissionMode: mode, git, seed: seed === undefined ? undefined : resolve(folder, seed) }),
    cwd: git || seed !== undefined ? cwd : resolve(folder, cwd ?? defaults.cwd ?? "."),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
  return task.models !== undefined && task.model !== undefined && text("model") === undefined
    ? { ...task, model: undefined }
    : task;
}

/** The field that a name is meant for: one letter is wrong or missing, or letters are swapped. `tool` and `prompt2` are names of their own. */
function misspelt(name: string): string | undefined {
  const plain = name.replaceAll(/[-_]/g, "").toLowerCase();
  const guess = nearest(plain, fields);
  const field = guess?.toLowerCase() ?? "";
  if (field === plain) return guess;
  const isOwn = plain.length < 5 || /\d/.test(plain);
  return !isOwn && (editDistance(plain, field) === 1 || lettersOf(plain) === lettersOf(field)) ? guess : undefined;
}

function lettersOf(word: string): string {
  return [...word].toSorted().join("");
}

/** `{{column}}` stands for the row's value of that name. A name that is not there is an error: a prompt with a hole asks for nothing. */
function fillTemplate(template: string, row: JsonObject, where: string): string {
  return template.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(row, name) ? row[name] : undefined;
    if (value === undefined) {
      const guess = nearest(name, Object.keys(row));
      throw wrong(where, `has no column ${name}${guess === undefined ? "" : `; did you mean ${guess}?`}`);
    }
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

function gitOf(value: unknown, where: string, folder: string): BatchTask["git"] {
  if (value === undefined || value === null || value === "") return undefined;
  const { repository, commit } = typeof value === "string" ? fromWord(value) : Object(value);
  if (typeof repository !== "string" || typeof commit !== "string" || commit.startsWith("-"))
    throw wrong(where, 'git is { "repository": …, "commit": … } or "REPOSITORY#COMMIT"');
  const isAddress = /^[a-z][a-z+.-]*:\/\//i.test(repository) || /^[\w.-]+@[\w.-]+:/.test(repository);
  return { repository: isAddress ? repository : resolve(folder, repository), commit };
}

function fromWord(word: string): { repository: string; commit: string | undefined } {
  const at = word.lastIndexOf("#");
  return at === -1 ? { repository: word, commit: "HEAD" } : { repository: word.slice(0, at), commit: word.slice(at + 1) };
}

function checkOf(value: unknown, where: string, folder: string): TaskCheck | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return { command: value };
  const { command, timeout, sandboxed, mounts } = Object(value);
  if (typeof command !== "string") throw wrong(where, 'check is a command, or { "command": …, "timeout": … }');
  const placed = Object.entries(Object(mounts)).map(([to, from]) => [to, from === "WORK" ? from : resolve(folder, String(from))]);
  return {
    command,
    ...present({ timeoutMs: timeout === undefined ? undefined : toDuration(`${where}: check.timeout`, String(timeout)) }),
    ...(sandboxed === true && { sandboxed }),
    ...(placed.length > 0 && { mounts: Object.fromEntries(placed) }),
  };
}

function schemaOf(value: unknown, where: string): JsonObject | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const parsed: unknown = typeof value === "string" ? parseJson(value, where) : value;
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as JsonObject; // of JSON
  throw wrong(where, "schema must be a JSON Schema");
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(where, "schema must be JSON");
  }
}

/** A list, or words with commas between them, as a column of a table has them. */
function wordsOf(value: unknown, where: string): readonly string[] | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== "string") throw wrong(where, "must be a list");
  return value
    .split(/,(?![^(]*\))/)
    .map((word) => word.trim())
    .filter(Boolean);
}

/** Also as a table has it. */
function booleanOf(value: unknown, where: string): boolean | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const word = String(value).toLowerCase();
  if (word === "true" || word === "false") return word === "true";
  throw wrong(where, `is true or false, not ${JSON.stringify(value)}`);
}

function withoutPrompt({ prompt: _, ...rest }: TaskDefaults): Omit<TaskDefaults, "prompt"> {
  return rest;
}

function present<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never; // the same, without what is not there
}

function wrong(where: string, what: string, hint?: string): RuntimeError {
  return new RuntimeError("usage", `${where}: ${what}`, hint === undefined ? {} : { hint });
}
