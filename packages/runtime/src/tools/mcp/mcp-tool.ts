import type { Client } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../protocol/content.ts";
import { type Tool, type ToolContext, ToolFailure, type ToolOutput } from "../tool.ts";
import { callServerTool } from "./call-server.ts";
import { callAsTask } from "./server-task.ts";
import type { ServerTool } from "./server-tool.ts";
import { withKeptMedia } from "./kept-media.ts";
import { toToolOutput } from "./tool-result.ts";
import { defined } from "../../util/defined.ts";
import { messageOf } from "../../util/message-of.ts";

const maxDescription = 4_000;

/** A way to work with the server, whichever connection to it lives. */
type ServerUse = { use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T> };

type Binding = {
  readonly tool: ServerTool;
  /** By which models and rules know it. */
  readonly name: string;
  readonly server: ServerUse;
  readonly owner: NonNullable<Tool["server"]>;
  readonly timeoutMs: number;
  readonly limitMs?: number | undefined;
  readonly outputLimit?: number | undefined;
};

/** A tool of a server. */
export function toTool({ tool, name, outputLimit, owner, ...binding }: Binding): Tool {
  return {
    name,
    description: (tool.description ?? tool.name).slice(0, maxDescription),
    inputSchema: tool.inputSchema,
    concurrent: tool.readOnly,
    comesFromServers: true,
    server: owner,
    ...defined({ outputLimit }),
    ...(tool.isAlwaysShown && { alwaysShown: true }),
    forgives: {}, // types only: what a server makes of other numbers and names is its own affair
    async access() {
      // What a server does cannot be known; its own hints are no reason to trust it.
      return { kind: "reach", resources: [] };
    },
    execute: (input, context) => callTool({ tool, input, context, ...binding }),
  };
}

type Call = Omit<Binding, "name" | "outputLimit" | "owner"> & { readonly input: unknown; readonly context: ToolContext };

async function callTool({ tool, input, context, server, timeoutMs, limitMs }: Call): Promise<ToolOutput> {
  let result: JsonObject;
  try {
    const params: Parameters<typeof callServerTool>[1] = {
      name: tool.name,
      arguments: input as Record<string, unknown>, // checked against the tool's schema, which is an object's
      _meta: { "claudecode/toolUseId": context.callId, ...defined({ traceparent: context.traceparent }) },
    };
    const options: Parameters<typeof callServerTool>[2] & { readonly signal: AbortSignal } = {
      signal: context.signal,
      timeout: timeoutMs,
      resetTimeoutOnProgress: limitMs === undefined, // a limit that somebody has set is one for the whole call
      onprogress: ({ progress, total, message }) =>
        context.progress(message ?? (total ? `${progress} of ${total}` : String(progress))),
    };
    result = await server.use(
      async (client) =>
        tool.isTask
          ? await callAsTask(client, { params: params as unknown as JsonObject, options, progress: context.progress }) // a model's input is JSON
          : await callServerTool(client, params, options),
      context.signal,
    );
  } catch (error) {
    context.signal.throwIfAborted();
    throw new ToolFailure(`The MCP server did not answer the call: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const output = toToolOutput(await withKeptMedia(result, context));
  const misfit = await misfitOf(tool, result);
  return misfit === undefined ? output : { ...output, content: [...output.content, { type: "text", text: misfit }] };
}

const maxProblem = 500;

/** What a server answers and does not fit its own description is shown all the same, with a word about it. */
async function misfitOf({ outputSchema }: ServerTool, { structuredContent, isError }: JsonObject): Promise<string | undefined> {
  if (!outputSchema || structuredContent === undefined || isError === true) return undefined;
  const { outputProblem } = await import("./output-validator.ts");
  const problem = outputProblem(outputSchema, structuredContent);
  return problem && `[The server's structured answer does not fit the schema it gave for it: ${problem.slice(0, maxProblem)}]`;
}
