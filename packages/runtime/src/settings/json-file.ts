import { readFile } from "node:fs/promises";
import { RuntimeError } from "../protocol/errors.ts";

/** The object a JSON file holds; empty when there is no file. What is wrong with it is said by place, never by quoting it: it may hold keys. */
export async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const text = await readText(path);
  if (text === undefined) return {};
  const value = parse(text, path);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new RuntimeError("config", `${path} must hold a JSON object`);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).replace(/^\ufeff/, "");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs rejects with nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new RuntimeError("config", `${path} cannot be read: ${message}`);
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { at, expected } = findProblem(text);
    const before = text.slice(0, at).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
    throw new RuntimeError("config", `${path} is not valid JSON: ${place}: ${expected}`);
  }
}

type Problem = { readonly at: number; readonly expected: string };

const quoted = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const bareWord = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const space = /[ \t\r\n]*/y;

/** Where a text stops being JSON. `JSON.parse` knows, but says it in other words on every version of Node, and quotes the text. */
function findProblem(text: string): Problem {
  const open: ("{" | "[")[] = [];
  let at = skip(space, text, 0) ?? 0;
  let next: "value" | "name" | "first-name" | "first-item" | "separator" = "value";
  const stop = (expected: string): Problem => {
    if (text[at] === "/") return { at, expected: "comments are not allowed" };
    const atText = text[at] === '"' && next !== "separator";
    return { at, expected: atText ? "this text is not closed, or holds a character that must be escaped" : expected };
  };
  while (true) {
    const character = text[at];
    const inside = open.at(-1);
    const closes = inside && character === (inside === "{" ? "}" : "]");
    if (closes && next !== "value" && next !== "name") {
      open.pop();
      at++;
      next = "separator";
    } else if (next === "separator") {
      if (!inside) return stop("nothing may follow the object");
      if (character !== ",") return stop(`expected "," or "${inside === "{" ? "}" : "]"}"`);
      at++;
      next = inside === "{" ? "name" : "value";
    } else if (next === "name" || next === "first-name") {
      const end = skip(quoted, text, at);
      if (end === undefined) return stop(`expected a name in double quotes${next === "name" ? " after the comma" : ""}`);
      at = skip(space, text, end) ?? end;
      if (text[at] !== ":") return stop('expected ":"');
      at++;
      next = "value";
    } else if (character === "{" || character === "[") {
      open.push(character);
      at++;
      next = character === "{" ? "first-name" : "first-item";
    } else {
      const end = skip(quoted, text, at) ?? skip(bareWord, text, at);
      if (end === undefined) return stop("expected a value");
      at = end;
      next = "separator";
    }
    at = skip(space, text, at) ?? at;
  }
}

function skip(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
