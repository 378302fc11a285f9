import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";

export type Frontmatter = { readonly attributes: JsonObject; readonly body: string };

/** No skill, agent or command says that much about itself. */
const maxLength = 64 * 1024;
const maxDepth = 32;

/**
 * The YAML between two lines of `---` at the start of a text, and what follows it; no attributes when there is none.
 * Only what JSON can hold: no tags, no dates, no cycles; names are never those of a prototype.
 */
export async function parseFrontmatter(text: string, name: string = "The file"): Promise<Frontmatter> {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const opening = /^---[ \t]*\r?\n/.exec(plain);
  if (!opening) return { attributes: {}, body: plain };
  const closing = /^---[ \t]*(?:\r?\n|$)/m.exec(plain.slice(opening[0].length));
  if (!closing) throw new RuntimeError("config", `${name} begins with --- and has no second line of --- to end its settings`);
  const source = plain.slice(opening[0].length, opening[0].length + closing.index);
  const body = plain.slice(opening[0].length + closing.index + closing[0].length);
  if (source.length > maxLength)
    throw new RuntimeError("config", `${name} has more than ${maxLength / 1024} KB of settings between its --- lines`);
  try {
    return { attributes: await parseAttributes(source, name), body };
  } catch (error) {
    const quoted = withQuotes(source);
    if (quoted === source) throw error;
    const attributes = await parseAttributes(quoted, name).catch(() => {
      throw error; // about what the person wrote, not about what we made of it
    });
    return { attributes, body };
  }
}

/** People write sentences with colons, brackets and stars in them and no quotes around them: where that is no YAML, each such line is taken as it stands. */
function withQuotes(source: string): string {
  return source.replace(simpleLine, (line, key: string, written: string) => {
    const value = written.trimEnd();
    return isSentence(value) ? `${key}: ${JSON.stringify(value.replaceAll("\\n", "\n"))}` : line;
  });
}

const simpleLine = /^([A-Za-z][\w-]*):[ \t]+(\S.*)$/gm;

function isSentence(value: string): boolean {
  if (/^["'&!#]/.test(value)) return false;
  if (/^\[.*\]$|^\{.*\}$|^[|>][-+\d]*$|^\*\S*$/.test(value)) return false; // what it looks like
  return /^[@`%*[{|>]/.test(value) || /:(?:\s|$)/.test(value);
}

async function parseAttributes(source: string, name: string): Promise<JsonObject> {
  const { LineCounter, parseDocument } = await import("../util/yaml.ts");
  const lines = new LineCounter();
  // JSON types and nothing else; `merge` (<<) would pull in what stands elsewhere.
  const document = parseDocument(source, {
    lineCounter: lines,
    schema: "core",
    customTags: [],
    merge: false,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    const line = lines.linePos(problem.pos[0]).line + 1;
    throw new RuntimeError("config", `${name}, line ${line}: ${firstLine(problem.message)}`, {
      hint: "Between the --- lines stands YAML: `name: value`, one to a line; quote values with a colon or # in them",
    });
  }
  const value = toJson(
    withoutAliases(() => document.toJS({ maxAliasCount: 0 }), name),
    name,
    0,
  );
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value))
    throw new RuntimeError("config", `${name}, line 2: expected \`name: value\` lines between the --- lines`);
  return value;
}

/** An alias (`*name`) is how a short text becomes a huge value. */
function withoutAliases(read: () => unknown, name: string): unknown {
  try {
    return read();
  } catch (error) {
    const reason = messageOf(error);
    throw new RuntimeError("config", `${name} uses a YAML alias, which its settings cannot have: ${firstLine(reason)}`, {
      cause: error,
    });
  }
}

/** A copy that is plain JSON: what YAML has beyond it is refused, and no name can reach a prototype. */
function toJson(value: unknown, name: string, depth: number): JsonValue {
  if (depth > maxDepth) throw new RuntimeError("config", `${name} nests its settings more than ${maxDepth} deep`);
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item) => toJson(item, name, depth + 1));
  if (typeof value !== "object")
    throw new RuntimeError("config", `${name} holds a value that is no text, number, list or map: ${String(value)}`);
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: toJson(item, name, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/:$/, "");
}
