import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type JsonObject, RuntimeError } from "@outrider/runtime";
import { parseCsv } from "./csv.ts";
import { fromHarbor, isHarborTask } from "./harbor.ts";
import { parseTask, type TaskDefaults } from "./parse-task.ts";
import { fromSweBench, isSweBenchRow } from "./swe-bench.ts";
import type { BatchTask } from "./task.ts";

export type ReadOptions = {
  readonly defaults?: TaskDefaults | undefined;
  /** Where paths of tasks from stdin start. */
  readonly cwd: string;
  /** What stdin holds, for the word `-`. */
  readonly stdin?: (() => Promise<string>) | undefined;
};

/**
 * The tasks that a word stands for: a file of JSON lines, a JSON list, a table (`.csv`), a folder of such files or of Harbor tasks, or `-`.
 * Ids are unique; a row without one is numbered.
 */
export async function readTasks(word: string, options: ReadOptions): Promise<BatchTask[]> {
  const tasks = await tasksOf(word, options);
  if (tasks.length === 0) throw new RuntimeError("no-input", `${word} holds no tasks`);
  const seen = new Set<string>();
  for (const { id } of tasks) {
    if (seen.has(id)) throw new RuntimeError("usage", `${word}: two tasks have the id ${JSON.stringify(id)}`);
    seen.add(id);
  }
  return tasks;
}

async function tasksOf(word: string, options: ReadOptions): Promise<BatchTask[]> {
  if (word === "-") {
    const text = (await options.stdin?.()) ?? "";
    const rows = isTable(text) ? parseCsv(text) : rowsOf(text, "stdin");
    return fromRows(rows, { name: "stdin", folder: options.cwd, offset: 0 }, options.defaults);
  }
  const path = resolve(options.cwd, word);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new RuntimeError("no-input", `There is no file or folder ${word}`);
  return stat.isDirectory() ? fromFolder(path, options.defaults) : fromFile(path, 0, options.defaults);
}

function fromFolder(folder: string, defaults: TaskDefaults | undefined): BatchTask[] {
  if (isHarborTask(folder)) return [fromHarbor(folder, defaults)];
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const harbor = entries.filter((entry) => entry.isDirectory() && isHarborTask(join(folder, entry.name)));
  const tasks = harbor.map((entry) => fromHarbor(join(folder, entry.name), defaults));
  for (const entry of entries)
    if (entry.isFile() && /\.(?:jsonl|ndjson|csv)$/i.test(entry.name))
      tasks.push(...fromFile(join(folder, entry.name), tasks.length, defaults));
  return tasks;
}

function fromFile(path: string, offset: number, defaults: TaskDefaults | undefined): BatchTask[] {
  const text = readFileSync(path, "utf8");
  const rows = /\.csv$/i.test(path) || isTable(text) ? parseCsv(text) : rowsOf(text, path);
  return fromRows(rows, { name: path, folder: dirname(path), offset }, defaults);
}

type Source = { readonly name: string; readonly folder: string; readonly offset: number };

function fromRows(rows: readonly JsonObject[], { name, folder, offset }: Source, defaults?: TaskDefaults): BatchTask[] {
  return rows.map((row, index) => {
    const place = { folder, where: `${name}, task ${index + 1}`, index: offset + index };
    return isSweBenchRow(row) ? fromSweBench(row, place, defaults) : parseTask(row, place, defaults);
  });
}

/** The first line holds names with commas between them, as no JSON does. */
function isTable(text: string): boolean {
  return /^\uFEFF?"?\w[\w -]*"?(?:,"?\w[\w -]*"?)+\r?\n/.test(text);
}

/** JSON lines; or one list. */
function rowsOf(written: string, name: string): JsonObject[] {
  const text = written.replace(/^\uFEFF/, "");
  const whole = text.trimStart().startsWith("[") ? parse(text, name) : undefined;
  const values = Array.isArray(whole)
    ? whole
    : text.split("\n").map((line, at) => (line.trim() ? parse(line, `${name}:${at + 1}`) : null));
  return values.flatMap((value: unknown, index) => {
    if (value === null) return [];
    if (typeof value === "object" && !Array.isArray(value)) return [value as JsonObject]; // of JSON
    throw new RuntimeError("usage", `${name}, line ${index + 1}: a task is a JSON object`);
  });
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RuntimeError("usage", `${where} is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
