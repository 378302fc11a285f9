import type { JsonObject, JsonValue, ToolResultPart } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { checkInput, type InputCheck } from "../tools/input.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { defined } from "../util/defined.ts";

/** A schema the final answer must fit, and how the model is brought to it. */
export type AnswerSchema = {
  readonly schema: JsonObject;
  /** The provider makes the model answer in JSON; else it answers by calling a tool. */
  readonly native: boolean;
  /** Judges answers in the place of `schema`. */
  readonly check?: ((value: unknown) => Promise<InputCheck>) | undefined;
  /** For one turn. */
  begin(): StructuredAnswer;
};

type Wanted = Omit<AnswerSchema, "begin">;

const structuredOutputTool = "StructuredOutput";
const maxRetries = 2;

/** Providers take only a plain object at the top, as an answer and as a tool's input alike: anything else is asked for by the tool, wrapped. */
export function toAnswerSchema(schema: JsonObject, nativeSchema: boolean, check?: AnswerSchema["check"]): AnswerSchema {
  const named = schema["type"] === undefined && schema["properties"] !== undefined ? { type: "object", ...schema } : schema;
  const wanted = { schema: named, native: nativeSchema && isPlainObject(named), check };
  return { ...wanted, begin: () => new StructuredAnswer(wanted) };
}

/** One turn's way to an answer that fits: it accepts, or says what to tell the model, or gives up. */
export class StructuredAnswer {
  readonly #wanted: Wanted;
  /** What the model answers with. Where the provider takes a schema it is not offered, but a call of it counts all the same. */
  readonly tool: Tool;
  readonly isOffered: boolean;
  #accepted: { value: JsonValue } | undefined;
  #refusals = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.tool = this.#createTool();
    this.isOffered = !wanted.native;
  }

  get accepted(): { value: JsonValue } | undefined {
    return this.#accepted;
  }

  /** After an answer in words: undefined when it is accepted, else the note that asks again. */
  async judgeText(text: string): Promise<string | undefined> {
    let problem: string | undefined;
    for (const value of this.isOffered ? wholeValues(text) : valuesIn(text)) {
      const checked = await this.#check(value);
      if (checked.ok) {
        this.#accepted = { value };
        return undefined;
      }
      problem ??= checked.message;
    }
    if (this.isOffered) {
      const why = problem === undefined ? "" : `Your answer does not fit the schema: ${problem} `;
      return this.#refuse(`${why}Give your final answer by calling the ${structuredOutputTool} tool.`);
    }
    if (problem === undefined) return this.#refuse("Your answer is no JSON. Answer with the JSON value alone.");
    return this.#refuse(`Your answer does not fit the schema: ${problem} Answer again with the whole JSON value.`);
  }

  /** After tools ran: counts the calls that did not fit, which the model has been told about. */
  judgeResults(results: readonly ToolResultPart[]): void {
    if (this.#accepted) return;
    for (const result of results) {
      if (result.name === structuredOutputTool && result.isError) this.#refuse(textOfResult(result));
    }
  }

  async #check(value: unknown): Promise<InputCheck> {
    const { schema, check } = this.#wanted;
    return await (check ? check(value) : checkInput(schema, value));
  }

  #refuse(note: string): string {
    if (++this.#refusals <= maxRetries) return note;
    throw new RuntimeError(
      "output-schema",
      `The model gave no answer that fits the schema in ${maxRetries + 1} tries. Last: ${note}`,
      {
        hint: "Simplify the schema, describe its fields, or use another model",
      },
    );
  }

  /** Only an object can be a tool's input: any other kind of value is wrapped. */
  #createTool(): Tool {
    const { schema, check } = this.#wanted;
    const wrapped = !isPlainObject(schema);
    const valueIn = (input: unknown): unknown => (wrapped ? Object(input).value : input);
    return defineTool<JsonObject>({
      name: structuredOutputTool,
      description:
        "Gives your final answer in the form that is asked for. Call it once, when the work is done; it ends the conversation.",
      inputSchema: wrapped ? wrap(schema) : schema,
      ...(check && { checkInput: (input: unknown) => check(valueIn(input)) }),
      concurrent: false,
      access: async () => ({ kind: "note", resources: [] }),
      execute: async (input) => {
        this.#accepted = { value: wrapped ? (input["value"] ?? null) : input };
        return { content: [{ type: "text", text: "Accepted." }] };
      },
    });
  }
}

function isPlainObject(schema: JsonObject): boolean {
  return schema["type"] === "object" && !["oneOf", "anyOf", "allOf"].some((keyword) => keyword in schema);
}

function wrap(schema: JsonObject): JsonObject {
  const { $schema, ...rest } = schema;
  // References within a schema that has an id of its own are meant from there.
  const value = rest["$id"] === undefined ? moveReferences(rest, "#/properties/value") : rest;
  return {
    ...defined({ $schema }),
    type: "object",
    properties: { value },
    required: ["value"],
    additionalProperties: false,
  };
}

const dataKeywords = ["enum", "const", "default", "examples"];
const namedSchemas = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/** The same schema when its root is now found at `root`. */
function moveReferences(schema: JsonValue, root: string): JsonValue {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => moveReferences(item, root));
  return mapValues(schema, (item, key) => {
    if (dataKeywords.includes(key)) return item;
    if (key === "$ref" && typeof item === "string") return /^#(\/|$)/.test(item) ? root + item.slice(1) : item;
    // Here the keys are names, whatever they look like.
    if (namedSchemas.includes(key)) return mapValues(item as JsonObject, (named) => moveReferences(named, root)); // `parseSchema` has seen it
    return moveReferences(item, root);
  });
}

function mapValues(object: JsonObject, change: (value: JsonValue, key: string) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** The JSON value a text holds: all of it, what stands in a fence, or the first object or list that is whole. */
export function extractJson(text: string): JsonValue | undefined {
  for (const value of valuesIn(text)) return value;
  return undefined;
}

/** Every value a text may mean, the likeliest first. */
function* valuesIn(text: string): Generator<JsonValue> {
  yield* wholeValues(text);
  let tries = 0;
  for (let start = nextStart(text, 0); start !== undefined && tries++ < maxTries; ) {
    const end = endOfValue(text, start);
    const value = end === -1 ? undefined : parse(text.slice(start, end));
    if (value !== undefined) yield value;
    start = nextStart(text, value === undefined ? start + 1 : end);
  }
}

/** Each try may read to the end of the text. */
const maxTries = 200;

/** All of the text, or all of a fenced block in it that is not said to be something else. */
function* wholeValues(text: string): Generator<JsonValue> {
  const blocks = [...text.matchAll(/^[ \t]*```([^\n`]*)\n([\s\S]*?)\n[ \t]*```[ \t]*$/gm)];
  const fenced = blocks.flatMap(([, language = "", body = ""]) => (/^\s*(json\w*)?\s*$/i.test(language) ? [body] : []));
  for (const candidate of [text, ...fenced]) {
    const value = parse(candidate);
    if (value !== undefined) yield value;
  }
}

function nextStart(text: string, from: number): number | undefined {
  const bracket = /[{[]/g;
  bracket.lastIndex = from;
  return bracket.exec(text)?.index;
}

/** Where the bracket that opens at `start` is closed; brackets in strings do not count. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  return -1;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue; // what JSON.parse answers is JSON
  } catch {
    return undefined;
  }
}

function textOfResult(result: ToolResultPart): string {
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
}
