import { isAbsolute, join, relative } from "node:path";
import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import type { ToolFacts } from "../../protocol/tool-facts.ts";
import { shownFacts } from "../../tools/builtin/presentation.ts";
import type { ToolCallFields } from "./wire.ts";

export type CallDescription = Required<Pick<ToolCallFields, "title" | "kind">> & Pick<ToolCallFields, "locations" | "content">;

/** What people see of a call: a line of words, what kind of thing it is, the files it is about and what it would change in them. */
export function describeCall(name: string, input: unknown, cwd: string): CallDescription {
  const fields = isJsonObject(input) ? input : {};
  const facts = shownFacts(name);
  const title = facts?.shown?.title(fields, (path) => path && shortPath(path, cwd)) ?? name;
  return { title: oneLine(title) || name, kind: facts?.shown?.as ?? "other", ...aboutFiles(facts, fields, cwd) };
}

/** A path as a tool takes it, made absolute. */
export function absolutePath(path: string, cwd: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}

function aboutFiles(
  facts: ToolFacts | undefined,
  input: JsonObject,
  cwd: string,
): Pick<CallDescription, "locations" | "content"> {
  const { file = "file_path", folder } = facts?.fields ?? {};
  const place = input[file] ?? (folder === undefined ? undefined : input[folder]);
  if (typeof place !== "string" || place === "") return {};
  const path = absolutePath(place, cwd);
  const line = facts?.shown?.line?.(input);
  const change = facts?.shown?.change?.(input);
  return {
    locations: [{ path, ...(line !== undefined && { line }) }],
    ...(change && { content: [{ type: "diff", path, ...change }] }),
  };
}

function shortPath(path: string, cwd: string): string {
  const inside = relative(cwd, absolutePath(path, cwd));
  return inside === "" || inside.startsWith("..") ? path : inside;
}

const longestTitle = 200;

/** What a model writes must not reach outside of its line. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length > longestTitle ? `${line.slice(0, longestTitle - 1)}…` : line;
}
