import { isAbsolute, join, relative } from "node:path";
import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import type { ToolCallContent, ToolCallFields, ToolKind } from "./wire.ts";

export type CallDescription = Required<Pick<ToolCallFields, "title" | "kind">> & Pick<ToolCallFields, "locations" | "content">;

/** What people see of a call: a line of words, what kind of thing it is, the files it is about and what it would change in them. */
export function describeCall(name: string, input: unknown, cwd: string): CallDescription {
  const fields = isJsonObject(input) ? input : {};
  return { title: oneLine(titleOf(name, fields, cwd)) || name, kind: kinds[name] ?? "other", ...aboutFiles(name, fields, cwd) };
}

/** A path as a tool takes it, made absolute. */
export function absolutePath(path: string, cwd: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}

const kinds: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  Edit: "edit",
  Write: "edit",
  Bash: "execute",
  Glob: "search",
  Grep: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
  TodoWrite: "think",
  Task: "think",
  Agent: "think",
};

function titleOf(name: string, input: JsonObject, cwd: string): string {
  const text = (key: string): string => (typeof input[key] === "string" ? input[key] : "");
  switch (name) {
    case "Read":
    case "Edit":
    case "Write":
      return text("file_path") && `${name} ${shortPath(text("file_path"), cwd)}`;
    case "Bash":
      return text("command");
    case "Glob":
      return text("pattern") && `Find ${text("pattern")}`;
    case "Grep":
      return text("pattern") && `Search for ${text("pattern")}`;
    case "WebFetch":
      return text("url") && `Fetch ${text("url")}`;
    case "WebSearch":
      return text("query") && `Search the web for ${text("query")}`;
    case "TodoWrite":
      return "Update the task list";
    case "Task":
    case "Agent":
      return text("description");
    default:
      return name;
  }
}

function aboutFiles(name: string, input: JsonObject, cwd: string): Pick<CallDescription, "locations" | "content"> {
  const place = input["file_path"] ?? (name === "Grep" || name === "Glob" ? input["path"] : undefined);
  if (typeof place !== "string" || place === "") return {};
  const path = absolutePath(place, cwd);
  const { offset } = input;
  const line = name === "Read" && typeof offset === "number" && Number.isInteger(offset) && offset > 0 ? { line: offset } : {};
  const content = proposedChange(name, input, path);
  return { locations: [{ path, ...line }], ...(content && { content }) };
}

/** Before the call nobody knows what the file holds: an edit shows its two texts, a new text the whole of it. */
function proposedChange(name: string, input: JsonObject, path: string): ToolCallContent[] | undefined {
  const { old_string: oldText, new_string: newText, content } = input;
  if (name === "Edit" && typeof oldText === "string" && typeof newText === "string")
    return [{ type: "diff", path, oldText, newText }];
  if (name === "Write" && typeof content === "string") return [{ type: "diff", path, oldText: null, newText: content }];
  return undefined;
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
