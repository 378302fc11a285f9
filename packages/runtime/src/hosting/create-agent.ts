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

/** A tool as the AI SDK has it: its name is its key. */
export type AiSdkTool = {
  readonly description?: string | undefined;
  /** A schema of a library, or what `jsonSchema()` of the AI SDK makes of JSON Schema. */
  readonly inputSchema: unknown;
  /** What it answers is shown to the model: a text as it is, anything else as JSON. */
  execute?(input: never, options: { toolCallId: string; messages: never[]; abortSignal: AbortSignal }): unknown;
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
  if (!isList(given)) checkValue("tools", given, toolsKind);
  const tools = isList(given) ? given : Object.entries(given).map(([name, tool]) => fromAiSdkTool(name, tool));
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
  shape({ description: anyText, execute: action }, "a tool of the AI SDK"),
  "a list of tools, as defineTool makes them, or an object of tools of the AI SDK by name",
);

function isList(tools: NonNullable<AgentOptions["tools"]>): tools is readonly Tool[] {
  return Array.isArray(tools);
}

function fromAiSdkTool(name: string, { description = name, inputSchema, execute }: AiSdkTool): Tool {
  if (!execute) throw new RuntimeError("usage", `The tool ${name} has no execute: nobody else would run it`);
  return defineTool({
    name,
    description,
    inputSchema: schemaOf(name, inputSchema),
    async execute(input, { callId, signal }) {
      const answer = await execute(input as never, { toolCallId: callId, messages: [], abortSignal: signal }); // checked by its schema
      return typeof answer === "string" ? answer : (JSON.stringify(answer) ?? "");
    },
  });
}

function schemaOf(name: string, schema: unknown): LibrarySchema<JsonObject> {
  if (isLibrarySchema(schema)) return schema as LibrarySchema<JsonObject>; // what it makes of the input goes to its own tool
  const json: unknown = Object(schema).jsonSchema;
  if (!isJsonObject(json)) throw new RuntimeError("usage", `inputSchema of the tool ${name} is no schema`);
  return json as unknown as LibrarySchema<JsonObject>; // either is taken by `defineTool`
}
