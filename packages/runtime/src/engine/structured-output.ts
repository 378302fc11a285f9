import type { JsonObject, JsonValue, ToolResultPart } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { checkInput } from "../tools/input.ts";
import { defineTool, type Tool } from "../tools/tool.ts";

/** A schema the final answer must fit, and how the model is brought to it. */
export type AnswerSchema = {
  readonly schema: JsonObject;
  /** The provider makes the model answer in JSON; else it answers by calling a tool. */
  readonly native: boolean;
};

export const structuredOutputTool = "StructuredOutput";
const maxRetries = 2;

/** One turn's way to an answer that fits: it accepts, or says what to tell the model, or gives up. */
export class StructuredAnswer {
  readonly #wanted: AnswerSchema;
  /** Undefined where the provider does it; else what the model is offered to answer with. */
  readonly tool: Tool | undefined;
  #accepted: { value: JsonValue } | undefined;
  #refusals = 0;

  constructor(wanted: AnswerSchema) {
    this.#wanted = wanted;
    this.tool = wanted.native ? undefined : this.#createTool();
  }

  get accepted(): { value: JsonValue } | undefined {
    return this.#accepted;
  }

  /** After an answer in words: undefined when it is accepted, else the note that asks again. */
  async judgeText(text: string): Promise<string | undefined> {
    if (this.tool) return this.#refuse(`Give your final answer by calling the ${structuredOutputTool} tool.`);
    const value = extractJson(text);
    if (value === undefined) return this.#refuse("Your answer is no JSON. Answer with the JSON value alone.");
    const checked = await checkInput(this.#wanted.schema, value);
    if (!checked.ok)
      return this.#refuse(`Your answer does not fit the schema: ${checked.message} Answer again with the whole JSON value.`);
    this.#accepted = { value };
    return undefined;
  }

  /** After tools ran: counts the calls that did not fit, which the model has been told about. */
  judgeResults(results: readonly ToolResultPart[]): void {
    if (this.#accepted) return;
    for (const result of results) {
      if (result.name === structuredOutputTool && result.isError) this.#refuse(textOfResult(result));
    }
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
    const { schema } = this.#wanted;
    const isObject = schema["type"] === "object" || schema["properties"] !== undefined;
    const inputSchema: JsonObject = isObject ? schema : { type: "object", properties: { value: schema }, required: ["value"] };
    return defineTool<JsonObject>({
      name: structuredOutputTool,
      description:
        "Gives your final answer in the form that is asked for. Call it once, when the work is done; it ends the conversation.",
      inputSchema,
      concurrent: false,
      access: async () => ({ kind: "note", resources: [] }),
      execute: async (input) => {
        this.#accepted = { value: isObject ? input : (input["value"] ?? null) };
        return { content: [{ type: "text", text: "Accepted." }] };
      },
    });
  }
}

/** The JSON value a text holds: all of it, what stands in a fence, or the first object or list that is whole. */
export function extractJson(text: string): JsonValue | undefined {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1];
  for (const candidate of [text, fenced]) {
    const value = candidate === undefined ? undefined : parse(candidate);
    if (value !== undefined) return value;
  }
  for (let start = text.search(/[{[]/); start !== -1; start = nextStart(text, start + 1)) {
    const end = endOfValue(text, start);
    const value = end === -1 ? undefined : parse(text.slice(start, end));
    if (value !== undefined) return value;
  }
  return undefined;
}

function nextStart(text: string, from: number): number {
  const at = text.slice(from).search(/[{[]/);
  return at === -1 ? -1 : from + at;
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
