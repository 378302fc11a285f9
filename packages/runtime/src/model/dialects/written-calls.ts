import { type JsonObject, type JsonValue, type ToolDefinition, isJsonObject } from "../../protocol/content.ts";
import { toBrokenInput } from "../../util/too-deep.ts";
import { objectIn, parseJson } from "./json-fields.ts";

export type WrittenCall = { name: string; input: JsonObject; malformedInput?: string };

/**
 * The tool calls that a model wrote down as text: JSON or a Python dict with name and arguments, a list of them,
 * Python calls one per line, or `<function=…>` elements. Empty when the text is nothing like a call of an offered tool.
 */
export function parseWrittenCalls(text: string, tools: readonly ToolDefinition[]): WrittenCall[] {
  const body = text.trim();
  const calls = fromElements(body, tools) ?? fromObjects(body) ?? fromPython(body, tools) ?? fromBroken(body);
  const offered = new Set(tools.map(({ name }) => name));
  return calls.every(({ name }) => offered.has(name)) ? calls : [];
}

/** `<function=Read><parameter=path>a.txt</parameter></function>`: values are bare text, typed by the tool's schema. */
function fromElements(body: string, tools: readonly ToolDefinition[]): WrittenCall[] | undefined {
  const elements = [...body.matchAll(/<function=([^>\s]+)>([\s\S]*?)(?:<\/function>|$)/g)];
  if (elements.length === 0) return undefined;
  return elements.map(([, name = "", content = ""]) => {
    const properties = propertiesOf(name, tools);
    const input: JsonObject = {};
    for (const [, key = "", value = ""] of content.matchAll(/<parameter=([^>\s]+)>\n?([\s\S]*?)\n?<\/parameter>/g)) {
      input[key] = isTextual(properties[key]) ? value : (parseLiteral(value.trim()) ?? value);
    }
    return { name, input };
  });
}

function isTextual(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && schema["type"] === "string";
}

function propertiesOf(name: string, tools: readonly ToolDefinition[]): JsonObject {
  return objectIn(tools.find((tool) => tool.name === name)?.inputSchema ?? {}, "properties");
}

function fromObjects(body: string): WrittenCall[] | undefined {
  const value = parseLiteral(body);
  const calls = (Array.isArray(value) ? value : [value]).map(toCall);
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

function toCall(value: JsonValue | undefined): WrittenCall | undefined {
  if (!isJsonObject(value)) return undefined;
  if (isJsonObject(value["function"])) return toCall(value["function"]);
  const name = value["name"] ?? value["function"] ?? value["tool"];
  if (typeof name !== "string") return undefined;
  const given = value["arguments"] ?? value["parameters"] ?? value["args"] ?? value["input"] ?? {};
  const input = typeof given === "string" ? parseLiteral(given) : given;
  return isJsonObject(input) ? { name, input } : { name, input: {}, malformedInput: toBrokenInput(given) };
}

/** `Read(path="a.txt")`; the wrappers `print(…)` and `default_api.` mean nothing. */
function fromPython(body: string, tools: readonly ToolDefinition[]): WrittenCall[] | undefined {
  return attempt(() => {
    const reader = new Reader(body);
    const calls: WrittenCall[] = [];
    while (!reader.atEnd()) calls.push(readCall(reader, tools));
    return calls.length > 0 ? calls : undefined;
  });
}

function readCall(reader: Reader, tools: readonly ToolDefinition[]): WrittenCall {
  const name = reader.word().replace(/^default_api\./, "");
  reader.expect("(");
  if (name === "print") {
    const call = readCall(reader, tools);
    reader.expect(")");
    return call;
  }
  const positions = Object.keys(propertiesOf(name, tools));
  const input: JsonObject = {};
  for (let position = 0; !reader.skip(")"); position++) {
    const key = reader.keyword() ?? positions[position];
    if (key === undefined) throw reader.unexpected();
    input[key] = reader.value();
    if (!reader.skip(",")) {
      reader.expect(")");
      break;
    }
  }
  return { name, input };
}

/** Meant as a call, but not readable: the model shall hear so instead of its text passing for an answer. */
function fromBroken(body: string): WrittenCall[] {
  const name = /["']name["']\s*:\s*["']([^"']+)["']/.exec(body)?.[1];
  return name === undefined ? [] : [{ name, input: {}, malformedInput: body }];
}

// --------------------------------------------------------------------------------------------------- literals

/** JSON, or the same in Python's spelling. */
function parseLiteral(text: string): JsonValue | undefined {
  return parseJson(text) ?? attempt(() => readWhole(text));
}

function readWhole(text: string): JsonValue {
  const reader = new Reader(text);
  const value = reader.value();
  if (!reader.atEnd()) throw reader.unexpected();
  return value;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "0": "\0", "\n": "" };
const constants: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["true", true],
  ["false", false],
  ["null", null],
]);

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    this.#match(/\s*/y);
    return this.#at === this.#text.length;
  }

  skip(token: string): boolean {
    this.#match(/\s*/y);
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.skip(token)) throw this.unexpected();
  }

  word(): string {
    const word = this.#match(/\s*([A-Za-z_][\w.-]*)/y)?.[1];
    if (word === undefined) throw this.unexpected();
    return word;
  }

  /** The name before `=`, if there is one. */
  keyword(): string | undefined {
    return this.#match(/\s*([A-Za-z_]\w*)\s*=(?!=)/y)?.[1];
  }

  value(): JsonValue {
    if (this.skip("{")) return this.#object();
    if (this.skip("[")) return this.#list("]");
    if (this.skip("(")) return this.#list(")");
    const quote = this.#match(/\s*("""|'''|"|')/y)?.[1];
    if (quote !== undefined) return this.#string(quote);
    const number = this.#match(/\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y)?.[1];
    if (number !== undefined) return Number(number);
    const constant = constants.get(this.word());
    if (constant === undefined) throw this.unexpected();
    return constant;
  }

  unexpected(): SyntaxError {
    return new SyntaxError(`Unexpected text at ${this.#at}`);
  }

  #object(): JsonObject {
    const object: JsonObject = {};
    while (!this.skip("}")) {
      const key = this.value();
      this.expect(":");
      object[String(key)] = this.value();
      if (this.skip(",")) continue;
      this.expect("}");
      break;
    }
    return object;
  }

  #list(close: string): JsonValue[] {
    const list: JsonValue[] = [];
    while (!this.skip(close)) {
      list.push(this.value());
      if (this.skip(",")) continue;
      this.expect(close);
      break;
    }
    return list;
  }

  #string(quote: string): string {
    let text = "";
    while (!this.#text.startsWith(quote, this.#at)) {
      const char = this.#text[this.#at++];
      if (char === undefined) throw this.unexpected();
      text += char === "\\" ? this.#escape() : char;
    }
    this.#at += quote.length;
    return text;
  }

  #escape(): string {
    const code = this.#match(/u([\da-fA-F]{4})|x([\da-fA-F]{2})/y);
    if (code) return String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? "", 16));
    const char = this.#text[this.#at++] ?? "";
    return escapes[char] ?? (/["'\\/]/.test(char) ? char : `\\${char}`);
  }

  #match(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const match = sticky.exec(this.#text);
    if (!match) return undefined;
    this.#at = sticky.lastIndex;
    return match;
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined; // not written in this way
  }
}
