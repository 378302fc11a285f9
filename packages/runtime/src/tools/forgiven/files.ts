import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { Forgiveness } from "../meant-input.ts";

/** Other programs' names for the file that a tool is about. */
const fileNames = {
  path: "file_path",
  file: "file_path",
  filename: "file_path",
  target_file: "file_path",
  absolute_path: "file_path",
  file_paths: "file_path",
};

/** Other programs' names for the lines that are wanted. */
const rangeNames = ["view_range", "line_range", "range"];
const firstNames = ["start_line", "line_start", "first_line", "from_line"];
const lastNames = ["end_line", "line_end", "last_line", "to_line"];

export const readForgiveness: Forgiveness = {
  names: { ...fileNames, line_count: "limit", num_lines: "limit" },
  needed: [...rangeNames, ...firstNames, ...lastNames],
  unset: ["limit"],
  reshape: withLineRange,
};

/** Some programs name the first and the last line, in two numbers or in one range; here it is the first, and how many. */
function withLineRange(input: JsonObject, note: (sentence: string) => void): JsonObject {
  const range = [...rangeNames, "lines"].find((name) => readRange(input[name]) !== undefined);
  const given = range ?? (readRange(input["offset"]) ? "offset" : undefined);
  const start = firstNames.find((name) => name in input);
  const end = lastNames.find((name) => name in input);
  const lines = given === undefined ? toRange(input[start ?? ""] ?? 1, input[end ?? ""] ?? -1) : readRange(input[given]);
  const names = given === undefined ? [start, end].filter((name) => name !== undefined) : [given];
  const isGivenTwice = (given !== "offset" && input["offset"] !== undefined) || input["limit"] !== undefined;
  if (!lines || names.length === 0 || isGivenTwice) return input;
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
  const limit = lines.last === undefined ? {} : { limit: lines.last - lines.first + 1 };
  const named = names.map((name) => JSON.stringify(name)).join(" and ");
  const until = lines.last === undefined ? "the end" : lines.last;
  note(`${named} ${names.length > 1 ? "were" : "was"} taken as lines ${lines.first} to ${until} (offset and limit).`);
  return { ...rest, offset: lines.first, ...limit };
}

type LineRange = { readonly first: number; readonly last: number | undefined };

/** `[2, 9]`, as a list or as text, and `2-9`. */
function readRange(value: JsonValue | undefined): LineRange | undefined {
  if (Array.isArray(value)) return value.length === 2 ? toRange(value[0] ?? null, value[1] ?? null) : undefined;
  const [, first, last] = (typeof value === "string" && /^\s*\[?\s*(\d{1,9})\s*[-,:]\s*(-?\d{1,9})\s*\]?\s*$/.exec(value)) || [];
  return first === undefined || last === undefined ? undefined : toRange(first, last);
}

function toRange(start: JsonValue, end: JsonValue): LineRange | undefined {
  const [first, last] = [Number(start ?? Number.NaN), Number(end ?? -1)];
  if (!Number.isInteger(first) || !Number.isInteger(last)) return undefined;
  if (last === -1) return { first: Math.max(1, first), last: undefined };
  return last >= first && last > 0 ? { first: Math.max(1, first), last } : undefined;
}

export const writeForgiveness: Forgiveness = {
  names: { ...fileNames, contents: "content", file_text: "content", file_content: "content", text: "content", data: "content" },
  needed: ["append", "mode"],
  reshape: withTextContent,
};

/** A JSON file that came as what it holds, and words that say what Write does anyway. */
function withTextContent(input: JsonObject, note: (sentence: string) => void): JsonObject {
  const { mode, ...rest } = input;
  const isPlain = typeof mode === "string" && /^(?:w|write|overwrite|create|replace)$/i.test(mode.trim());
  const whole = isPlain ? rest : input;
  const { content } = whole;
  const path = Object.entries(whole).find(([name]) => name in fileNames || name === "file_path")?.[1];
  if (typeof content !== "object" || content === null || typeof path !== "string" || !/\.json$/i.test(path)) return whole;
  note('"content" came as a value and was written as JSON.');
  return { ...whole, content: `${JSON.stringify(content, null, 2)}\n` };
}

export const editForgiveness: Forgiveness = {
  names: {
    ...fileNames,
    old_str: "old_string",
    new_str: "new_string",
    old_text: "old_string",
    new_text: "new_string",
    old: "old_string",
    new: "new_string",
    search: "old_string",
    replace: "new_string",
    find: "old_string",
    replacement: "new_string",
    allow_multiple: "replace_all",
    changes: "edits",
  },
  needed: [],
  complete: withFirstEdit,
};

/** Some models know a tool that takes a list of changes only: the first of them is this call's own. */
function withFirstEdit(input: JsonObject): JsonObject {
  const [first, ...edits] = Array.isArray(input["edits"]) ? input["edits"] : [];
  if (!isJsonObject(first) || "old_string" in input || "new_string" in input) return input;
  return { ...input, ...first, edits };
}

export const notebookForgiveness: Forgiveness = {
  names: { path: "notebook_path", file_path: "notebook_path", source: "new_source" },
  needed: ["cell_number"],
  reshape: withCellId,
  complete: (input) =>
    input["edit_mode"] === "delete" && input["new_source"] === undefined ? { ...input, new_source: "" } : input,
};

/** Older programs count the cells from 0. */
function withCellId(input: JsonObject, note: (sentence: string) => void): JsonObject {
  const { cell_number: number, ...rest } = input;
  if (!/^\d{1,6}$/.test(String(number)) || "cell_id" in input) return input;
  note(`"cell_number" was taken for the cell at place ${number}, counted from 0.`);
  return { ...rest, cell_id: `cell-${number}` };
}

export const patchForgiveness: Forgiveness = {
  names: { patch: "input", patch_text: "input", diff: "input", content: "input", command: "input", cmd: "input" },
  needed: [],
  reshape: withPatchAlone,
};

/** Models that know it as a program send its words: `["apply_patch", PATCH]`. */
function withPatchAlone(input: JsonObject): JsonObject {
  const name = ["command", "cmd", "input"].find((one) => Array.isArray(input[one]));
  const words = name === undefined ? [] : (input[name] as JsonValue[]); // just seen
  if (name === undefined || words.length !== 2 || words[0] !== "apply_patch") return input;
  return { ...input, [name]: words[1] ?? null };
}
