import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { action, anyText, checkOptions, fields, flag, type Kind, kind, needed, place } from "../protocol/kinds.ts";
import type { ToolFacts } from "../protocol/tool-facts.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { toJsonSchema } from "./library-schema.ts";
import { parseSchema } from "./schema.ts";
import { isLibrarySchema, type LibrarySchema, type Parsed, parseWith } from "./standard-schema.ts";
import { type Access, type Tool, type ToolContext, ToolFailure, type ToolMemory, type ToolOutput } from "./tool.ts";
import { defined } from "../util/defined.ts";

/** What `defineTool` takes; `Input` is what `access` and `execute` are given. */
export type ToolDeclaration<Input> = {
  /** What the model calls it by, and what permission rules name. */
  readonly name: string;
  readonly description: string;
  /** May run beside other calls of the same message; no when absent. */
  readonly concurrent?: boolean | undefined;
  /** How long it may take to stop by itself after an abort before it is left behind; 700 ms when absent. */
  readonly abortGraceMs?: number | undefined;
  /** What the tool says about itself: what its calls do, which fields of the input name files, how to show it. */
  readonly facts?: ToolFacts | undefined;
  /** What a call is about to touch. Without it every call is asked about, unless a rule names the tool. */
  access?(input: Input, workspace: Workspace, memory?: ToolMemory): Access | Promise<Access>;
  /** Does it. A text is the answer; failures that the model should read are thrown as `ToolFailure`. */
  execute(input: Input, context: ToolContext): string | ToolOutput | Promise<string | ToolOutput>;
};

export type SchemaToolDeclaration<Output> = ToolDeclaration<Output> & {
  /** Checks each call's input; `execute` gets what it makes of it, with its defaults and in its types. */
  readonly inputSchema: LibrarySchema<Output>;
  /** What the model is shown, where the schema cannot say that itself. */
  readonly jsonSchema?: JsonObject | undefined;
};

export type JsonToolDeclaration<Input> = ToolDeclaration<Input> & {
  /** JSON Schema of the input; calls that do not fit are refused before anything else happens. */
  readonly inputSchema: JsonObject;
};

/**
 * A tool for sessions. With a schema of zod 3 or 4, or of any library that keeps to Standard Schema, the type of the input is that of the
 * schema; with JSON Schema it is whatever you say it is.
 */
export function defineTool<Output>(tool: SchemaToolDeclaration<Output>): Tool;
export function defineTool<Input = JsonObject>(tool: JsonToolDeclaration<Input>): Tool;
export function defineTool<Input>(tool: SchemaToolDeclaration<Input> | JsonToolDeclaration<Input>): Tool {
  check(tool);
  const { name, description, inputSchema: schema, abortGraceMs, facts } = tool;
  const read = isLibrarySchema(schema) ? reader(schema) : undefined;
  // Checked against the schema before: by the schema itself, or by the engine against the JSON Schema.
  const inputOf = async (input: unknown): Promise<Input> => (read ? await read.value(input) : (input as Input));
  return {
    name,
    description,
    inputSchema: checkObject(name, parseSchema(("jsonSchema" in tool ? tool.jsonSchema : undefined) ?? toJsonSchema(schema))),
    concurrent: tool.concurrent ?? false,
    ...defined({ abortGraceMs, facts }),
    ...(read && { checkInput: (input: unknown) => read.parse(input) }),
    access: async (input, workspace, memory) => (await tool.access?.(await inputOf(input), workspace, memory)) ?? unknownAccess,
    execute: async (input, context) => toOutput(name, await tool.execute(await inputOf(input), context)),
  };
}

/** Of what a program's tool does nothing is known, as with the tools of MCP servers. */
const unknownAccess: Access = { kind: "reach", resources: [] };

/** Calls are read three times (checked, judged, run), schemas may look things up: one input is parsed once. */
function reader<Output>(schema: LibrarySchema<Output>): {
  parse(input: unknown): Promise<Parsed<Output>>;
  value(input: unknown): Promise<Output>;
} {
  const known = new WeakMap<object, Promise<Parsed<Output>>>();
  const parse = (input: unknown): Promise<Parsed<Output>> => {
    if (typeof input !== "object" || input === null) return parseWith(schema, input);
    const parsed = known.get(input) ?? parseWith(schema, input);
    known.set(input, parsed);
    return parsed;
  };
  const value = async (input: unknown): Promise<Output> => {
    const parsed = await parse(input);
    if (!parsed.ok) throw new ToolFailure(parsed.message);
    return parsed.value;
  };
  return { parse, value };
}

function toOutput(name: string, answer: string | ToolOutput): ToolOutput {
  if (typeof answer === "string") return { content: [{ type: "text", text: answer }] };
  if (Array.isArray(Object(answer).content)) return answer;
  throw new TypeError(`execute of the tool ${name} answered neither a text nor { content: [ … ] }`);
}

/** Providers take no other names. */
const names = /^[A-Za-z0-9_-]{1,64}$/;

/** For programs without types. */
function check(tool: unknown): void {
  checkOptions("defineTool", tool, kinds);
}

const kinds: Readonly<Record<keyof SchemaToolDeclaration<never>, Kind>> = {
  name: needed(kind('1 to 64 letters, digits, "_" and "-"', (value) => typeof value === "string" && names.test(value))),
  description: needed(anyText),
  inputSchema: needed(kind("a schema: JSON Schema, or one of zod or another library", (value) => Object(value) === value)),
  jsonSchema: fields,
  concurrent: flag,
  abortGraceMs: place,
  facts: fields,
  access: action,
  execute: needed(action),
};

/** What a model sends is an object: providers refuse a tool that takes anything else. */
function checkObject(name: string, schema: JsonObject): JsonObject {
  const { type = "object" } = schema;
  if (type === "object" || (Array.isArray(type) && type.includes("object"))) return schema;
  throw new RuntimeError("usage", `inputSchema of the tool ${name} must describe an object, not ${JSON.stringify(type)}`);
}
