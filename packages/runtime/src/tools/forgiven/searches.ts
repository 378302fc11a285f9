import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { checkInput, type InputCheck } from "../input.ts";
import type { Forgiveness } from "../meant-input.ts";

/** Other programs' names for the folder that is searched. */
const folderNames = {
  file_path: "path",
  dir: "path",
  directory: "path",
  dir_path: "path",
  cwd: "path",
  folder: "path",
  paths: "path",
  search_path: "path",
  target_directory: "path",
};

export const globForgiveness: Forgiveness = {
  names: {
    ...folderNames,
    glob: "pattern",
    patterns: "pattern",
    file_pattern: "pattern",
    glob_pattern: "pattern",
    query: "pattern",
  },
  needed: [],
  unset: ["path"],
  reshape: (input, note) => withJoinedGlobs(input, ["pattern", "patterns", "glob", "glob_pattern"], note),
};

export const grepForgiveness: Forgiveness = {
  names: {
    ...folderNames,
    query: "pattern",
    regex: "pattern",
    search: "pattern",
    search_pattern: "pattern",
    context: "-C",
    context_lines: "-C",
    before: "-B",
    before_context: "-B",
    after: "-A",
    after_context: "-A",
    ignore_case: "-i",
    case_insensitive: "-i",
    line_numbers: "-n",
    show_line_numbers: "-n",
    include: "glob",
    includes: "glob",
    include_pattern: "glob",
    file_pattern: "glob",
    only_matching: "-o",
    limit: "head_limit",
    max_results: "head_limit",
    max_count: "head_limit",
  },
  needed: ["-v", "invert", "invert_match", "exclude", "exclude_pattern"],
  unset: ["path", "glob", "type"],
  words: {
    output_mode: {
      files: "files_with_matches",
      fileswithmatch: "files_with_matches",
      filenames: "files_with_matches",
      filesonly: "files_with_matches",
      matches: "content",
      lines: "content",
      text: "content",
      counts: "count",
    },
  },
  reshape(input, note) {
    return withJoinedGlobs(withoutSwitches(input, note), ["glob", "include", "includes", "file_pattern"], note);
  },
};

type Note = (sentence: string) => void;
type Switch = {
  readonly names: readonly string[];
  take(input: JsonObject, value: JsonValue): JsonObject | undefined;
  readonly said: string;
};

const isOn = (value: JsonValue): boolean => value === true || value === 1 || /^(?:true|yes|1)$/i.test(String(value).trim());

/** Switches of grep that have no property of their own here, and what they come to. */
const switches: readonly Switch[] = [
  {
    names: ["case_sensitive", "caseSensitive"],
    take: (input, value) => ("-i" in input ? undefined : { ...input, "-i": !isOn(value) }),
    said: "-i",
  },
  {
    names: ["-F", "fixed_strings", "fixedStrings", "literal"],
    take: (input, value) => (isOn(value) ? onPattern(input, escaped) : input),
    said: "a pattern whose characters stand for themselves",
  },
  {
    names: ["-w", "word", "whole_word", "word_regexp"],
    take: (input, value) => (isOn(value) ? onPattern(input, (pattern) => `\\b(?:${pattern})\\b`) : input),
    said: "a pattern between word borders",
  },
  {
    names: ["-l", "files_with_matches", "files_only"],
    take: (input, value) => (isOn(value) && !("output_mode" in input) ? { ...input, output_mode: "files_with_matches" } : input),
    said: "output_mode",
  },
  {
    names: ["-c", "count"],
    take: (input, value) => (isOn(value) && !("output_mode" in input) ? { ...input, output_mode: "count" } : undefined),
    said: "output_mode",
  },
  {
    names: ["exclude", "exclude_pattern"],
    take: (input, value) =>
      "glob" in input || typeof value !== "string" || value.trim() === ""
        ? undefined
        : { ...input, glob: `!${value.replace(/^!/, "")}` },
    said: "a glob with ! before it",
  },
];

function withoutSwitches(given: JsonObject, note: Note): JsonObject {
  let input = given;
  for (const { names, take, said } of switches) {
    const name = names.find((one) => one in input);
    if (name === undefined) continue;
    const { [name]: value = null, ...rest } = input;
    const taken = take(rest, value);
    if (!taken) continue;
    note(`${JSON.stringify(name)} was taken as ${said}.`);
    input = taken;
  }
  return input;
}

function onPattern(input: JsonObject, change: (pattern: string) => string): JsonObject | undefined {
  const name = ["pattern", "query", "search"].find((one) => typeof input[one] === "string");
  return name === undefined ? undefined : { ...input, [name]: change(String(input[name])) };
}

function escaped(pattern: string): string {
  return pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Several patterns are one with braces, where none of them has commas, braces or a `!` of its own. */
function withJoinedGlobs(input: JsonObject, names: readonly string[], note: Note): JsonObject {
  const name = names.find((one) => Array.isArray(input[one]) && (input[one] as JsonValue[]).length > 1);
  if (name === undefined) return input;
  const globs = input[name] as JsonValue[]; // just seen
  if (!globs.every((glob): glob is string => typeof glob === "string" && /^[^!{},]+$/.test(glob))) return input;
  note(`${JSON.stringify(name)} came as a list and was taken as {${globs.join(",")}}.`);
  return { ...input, [name]: `{${globs.join(",")}}` };
}

export const webFetchForgiveness: Forgiveness = {
  names: { uri: "url", link: "url", href: "url", address: "url", urls: "url" },
  needed: [],
  complete: ({ url, ...rest }) =>
    isBare(url) ? { ...rest, url: `https://${url}` } : { ...rest, ...(url !== undefined && { url }) },
};

/** An address without its beginning does not fit: it is completed before rules and hooks look at it. */
export async function checkAddress(schema: JsonObject, input: unknown): Promise<InputCheck> {
  const checked = await checkInput(schema, input);
  if (!checked.ok || !isJsonObject(input) || !isBare(input["url"])) return checked;
  return { ok: false, message: '"url" must start with https:// or http://.' };
}

/** `example.org/a` can only mean a page. */
function isBare(url: JsonValue | undefined): url is string {
  return typeof url === "string" && /^(?:[a-z\d-]+\.)+[a-z]{2,}(?:[/?#:]|$)/i.test(url);
}
