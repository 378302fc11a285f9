import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";

export type KeyPath = readonly (string | number)[];

export type ParsedJson = {
  readonly values: JsonObject;
  /** The line a value begins in, or the nearest value around it. */
  lineOf(keyPath: KeyPath): number;
};

/** Deeper than any settings, and shallow enough for code that walks through them. */
const maxDepth = 100;

/**
 * The object a JSON text holds. Stricter than `JSON.parse`: a name written twice, a number that is none, `__proto__` and deep nesting
 * are refused. What is wrong is said by place, never by quoting a value: it may be a key.
 */
export function parseJsonObject(text: string, path: string): ParsedJson {
  const scanned = scan(text);
  if ("expected" in scanned) throw toError(text, path, scanned);
  const values: unknown = JSON.parse(text);
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new RuntimeError("config", `${path} must hold a JSON object`);
  return { values: values as JsonObject, lineOf: (keyPath) => lineIn(scanned, keyPath) }; // JSON.parse gives nothing else
}

/** Where a value begins, and the values in it. */
type Place = { readonly line: number; readonly inside?: Map<string | number, Place> };

/** Where a text stops being JSON (`broken`), or is JSON that no settings need. */
type Problem = { readonly at: number; readonly expected: string; readonly broken: boolean };

function lineIn(top: Place, keyPath: KeyPath): number {
  let place = top;
  for (const key of keyPath) {
    const next = place.inside?.get(key);
    if (!next) break;
    place = next;
  }
  return place.line;
}

function toError(text: string, path: string, { at, expected, broken }: Problem): RuntimeError {
  const before = text.slice(0, at).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  if (broken)
    return new RuntimeError("config", `${path} is not valid JSON: line ${before.length}, column ${column}: ${expected}`);
  return new RuntimeError("config", `${path}:${before.length}: ${expected}`);
}

type Container = { readonly kind: "{" | "["; readonly inside: Map<string | number, Place>; name: string };

const bareWord = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** One pass without recursion. `JSON.parse` knows where it stopped too, but says it in other words on every version of Node, and quotes the text. */
function scan(text: string): Place | Problem {
  const open: Container[] = [];
  const top: Container = { kind: "[", inside: new Map(), name: "" };
  const lineAt = lineCounter(text);
  let at = skipSpace(text, 0);
  let next: "value" | "name" | "first-name" | "first-item" | "separator" = "value";
  const broken = (expected: string): Problem => {
    if (text[at] === "/") return { at, expected: "comments are not allowed", broken: true };
    const atText = text[at] === '"' && next !== "separator";
    const words = atText ? "this text is not closed, or holds a character that must be escaped" : expected;
    return { at, expected: words, broken: true };
  };
  const refused = (expected: string): Problem => ({ at, expected, broken: false });
  const note = (place: Place): void => {
    const around = open.at(-1) ?? top;
    around.inside.set(around.kind === "{" ? around.name : around.inside.size, place);
  };
  while (true) {
    const character = text[at];
    const around = open.at(-1);
    const closes = around && character === (around.kind === "{" ? "}" : "]");
    if (closes && next !== "value" && next !== "name") {
      open.pop();
      at++;
      next = "separator";
    } else if (next === "separator") {
      if (!around) {
        const whole = top.inside.get(0);
        return at === text.length && whole ? whole : broken("nothing may follow the object");
      }
      if (character !== ",") return broken(`expected "," or "${around.kind === "{" ? "}" : "]"}"`);
      at++;
      next = around.kind === "{" ? "name" : "value";
    } else if (around && (next === "name" || next === "first-name")) {
      const end = endOfText(text, at);
      if (end === undefined) return broken(`expected a name in double quotes${next === "name" ? " after the comma" : ""}`);
      const name = readText(text, at, end);
      if (name === "__proto__") return refused('"__proto__" cannot be a name here');
      if (around.inside.has(name)) return refused(`${JSON.stringify(name)} is written twice in one object; keep one of them`);
      around.name = name;
      at = skipSpace(text, end);
      if (text[at] !== ":") return broken('expected ":"');
      at++;
      next = "value";
    } else if (character === "{" || character === "[") {
      if (open.length >= maxDepth) return refused(`objects and lists may be nested ${maxDepth} deep, not deeper`);
      const inside = new Map<string | number, Place>();
      note({ line: lineAt(at), inside });
      open.push({ kind: character, inside, name: "" });
      at++;
      next = character === "{" ? "first-name" : "first-item";
    } else {
      const end = endOfText(text, at) ?? endOfWord(text, at);
      if (end === undefined) return broken("expected a value");
      if (isBeyondNumbers(text.slice(at, end))) return refused("this number is too large");
      note({ line: lineAt(at) });
      at = end;
      next = "separator";
    }
    at = skipSpace(text, at);
  }
}

/** `1e999` would become infinite, which no JSON can say again. */
function isBeyondNumbers(word: string): boolean {
  return /^[-\d]/.test(word) && !Number.isFinite(Number(word));
}

/** Places are asked for in order, so each line break is counted once. */
function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let counted = 0;
  return (at) => {
    for (; counted < at; counted++) if (text[counted] === "\n") line++;
    return line;
  };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at++;
  return at;
}

function endOfText(text: string, from: number): number | undefined {
  if (text[from] !== '"') return undefined;
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') return at + 1;
    if (character < " ") return undefined;
    if (character !== "\\") continue;
    at++;
    const escaped = text[at] ?? "";
    if (escaped === "u" && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) at += 4;
    else if (escaped === "" || !'"\\/bfnrt'.includes(escaped)) return undefined;
  }
  return undefined;
}

function readText(text: string, from: number, end: number): string {
  const inner = text.slice(from + 1, end - 1);
  return inner.includes("\\") ? String(JSON.parse(text.slice(from, end))) : inner;
}

function endOfWord(text: string, from: number): number | undefined {
  bareWord.lastIndex = from;
  return bareWord.test(text) ? bareWord.lastIndex : undefined;
}
