import { type AiSdkModel, fromAiSdk } from "../model/ai-sdk.ts";
import type { Provider } from "../model/model.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { action, anyText, checkValue, either, having, kind, recordOf, shape } from "../protocol/kinds.ts";
import { isRecord } from "../util/is-record.ts";
import { defineTool } from "../tools/define-tool.ts";
import { isLibrarySchema, type LibrarySchema } from "../tools/standard-schema.ts";
import type { Tool } from "../tools/tool.ts";
import { InteractiveSession, type InteractiveSessionOptions } from "./interactive-session.ts";
import { sessionKinds } from "./option-kinds.ts";

/** A tool as `tool()` of the AI SDK makes it, version 5 or 6: its name is its key. */
export type AiSdkTool = {
  readonly description?: unknown;
  /** A schema of a library, or what `jsonSchema()`, `zodSchema()` or `lazySchema()` of the AI SDK make. */
  readonly inputSchema: unknown;
  /** What it answers is shown to the model: a text as it is, anything else as JSON. Of a generator the last value counts, the others are progress. */
  readonly execute?:
    | ((input: never, options: { toolCallId: string; messages: never[]; abortSignal: AbortSignal }) => unknown)
    | undefined;
  /** Refused: versions call it in different ways. What `execute` answers is what the model sees. */
  readonly toModelOutput?: unknown;
};

export type AgentOptions<Structured = JsonValue> = Omit<
  InteractiveSessionOptions<Structured>,
  "cwd" | "provider" | "model" | "tools" | "systemPrompt" | "instructions"
> & {
  /** A model of the AI SDK, or a provider. */
  readonly model: AiSdkModel | Provider;
  /** The system prompt. */
  readonly instructions?: string | undefined;
  /** They run without being asked about: the program brought them. */
  readonly tools?: Readonly<Record<string, AiSdkTool>> | readonly Tool[] | undefined;
  /** The process's own when absent. */
  readonly cwd?: string | undefined;
};

/**
 * A session with nothing but a model, instructions and tools: no files count and no built-in tools are offered, unless options say so.
 * It is open when this resolves, and is an agent for `runHeadless`.
 */
export async function createAgent<Structured = JsonValue>(
  options: AgentOptions<Structured>,
): Promise<InteractiveSession<Structured>> {
  checkValue("createAgent", options, kind("given an object with a model", isRecord));
  const { model, instructions, tools: given = [], cwd = process.cwd(), ...rest } = options;
  checkValue("model", model, modelKind);
  if (instructions !== undefined) checkValue("instructions", instructions, anyText);
  checkValue("tools", given, isList(given) ? sessionKinds.tools : toolsKind);
  const tools = isList(given)
    ? given
    : await Promise.all(Object.entries(given).map(async ([name, tool]) => await fromAiSdkTool(name, tool)));
  const session = new InteractiveSession({
    bare: true,
    builtinTools: [],
    ...rest,
    cwd,
    provider: "doStream" in model ? fromAiSdk(model) : model,
    systemPrompt: instructions ?? "You are a helpful assistant.",
    tools,
    allowedTools: [...(rest.allowedTools ?? []), ...tools.map(({ name }) => name)],
  });
  await session.open();
  return session;
}

const modelKind = either(
  'a model of the AI SDK or a provider, such as createProvider("openai") makes',
  having(["doStream"], ""),
  having(["stream"], ""),
);
const toolsKind = recordOf(
  shape({ execute: action }, "a tool of the AI SDK"),
  "a list of tools, as defineTool makes them, or an object of tools of the AI SDK by name",
);

function isList(tools: NonNullable<AgentOptions["tools"]>): tools is readonly Tool[] {
  return Array.isArray(tools);
}

async function fromAiSdkTool(name: string, tool: AiSdkTool): Promise<Tool> {
  const { description, inputSchema, execute, toModelOutput } = tool;
  if (!execute) throw new RuntimeError("usage", `The tool ${name} has no execute: nobody else would run it`);
  if (toModelOutput)
    throw new RuntimeError(
      "usage",
      `The tool ${name} has toModelOutput, which is not called: answer what the model is to see in execute`,
    );
  return defineTool({
    name,
    description: typeof description === "string" ? description : name,
    inputSchema: await schemaOf(name, inputSchema),
    async execute(input, { callId, signal, progress }) {
      const answer = execute(input as never, { toolCallId: callId, messages: [], abortSignal: signal }); // checked by its schema
      return toText(isGenerator(answer) ? await lastOf(answer, (value) => progress(toText(value))) : await answer);
    },
  });
}

function toText(answer: unknown): string {
  return typeof answer === "string" ? answer : (JSON.stringify(answer) ?? "");
}

function isGenerator(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof Object(answer)[Symbol.asyncIterator] === "function";
}

/** All values but the last are told when they come. */
async function lastOf(values: AsyncIterable<unknown>, tell: (value: unknown) => void): Promise<unknown> {
  let last: { readonly value: unknown } | undefined;
  for await (const value of values) {
    if (last) tell(last.value);
    last = { value };
  }
  return last?.value;
}

/** A lazy schema is a function that answers one. */
async function schemaOf(name: string, schema: unknown): Promise<LibrarySchema<JsonObject>> {
  if (isLibrarySchema(schema)) return schema as LibrarySchema<JsonObject>; // what it makes of the input goes to its own tool
  const made: unknown = typeof schema === "function" ? schema() : schema;
  const json: unknown = await Object(made).jsonSchema;
  if (!isJsonObject(json))
    throw new RuntimeError("usage", `inputSchema of the tool ${name} must be a schema, not ${typeof schema}`);
  return withDefaults(json, Object(made).validate);
}

type Validate = (value: unknown) => Result | PromiseLike<Result>;
type Result = { readonly success: true; readonly value: unknown } | { readonly success: false; readonly error: Error };

/** What the schema of the AI SDK makes of an input goes to its tool; one without `validate` is JSON Schema alone. */
function withDefaults(json: JsonObject, validate: Validate | undefined): LibrarySchema<JsonObject> {
  if (typeof validate !== "function") return json as unknown as LibrarySchema<JsonObject>; // either is taken by `defineTool`
  return {
    "~standard": {
      version: 1,
      vendor: "ai-sdk",
      validate: async (value: unknown) => {
        const result = await validate(value);
        return result.success ? { value: result.value as JsonObject } : { issues: [{ message: result.error.message }] };
      },
      jsonSchema: { input: () => json },
    },
  } as LibrarySchema<JsonObject>;
}
