import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import { outputValidator } from "../../tools/mcp/output-validator.ts";
import { AgentTools, type ToolAnswer } from "./agent-tools.ts";
import { toPrompts, toPromptText } from "./command-prompts.ts";
import type { McpHost } from "./mcp-host.ts";
import * as official from "./official-server.ts";
import { listResources, readResource, resourceTemplates } from "./session-resources.ts";
import { outputSchema, toolDefinitions } from "./tool-definitions.ts";

type Context = Parameters<Parameters<InstanceType<typeof official.Server>["setRequestHandler"]>[2]>[1];
type OfficialServer = InstanceType<typeof official.Server>;

const instructions =
  "Outrider runs coding agents. run starts one in a folder, reply goes on with its session, status tells how it goes, cancel ends it. Sessions are stored and outlive this server.";

/** One question after the other may be asked in a run; the official package lets an older client be asked eight times when nothing is said. */
const maxRounds = 1_000;
const roundTimeoutMs = 10 * 60_000;

/**
 * What both eras of the protocol are served from: a server for each connection or request, all of the same agent. `serveStdio` takes it, and
 * `createMcpHandler` for HTTP.
 */
export function createMcpServers(host: McpHost): () => OfficialServer {
  const tools = new AgentTools(host);
  return () => createServer(host, tools);
}

function createServer(host: McpHost, tools: AgentTools): OfficialServer {
  const server = new official.Server(
    { name: "outrider", title: "Outrider", version: host.version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions,
      inputRequired: { maxRounds, roundTimeoutMs },
      jsonSchemaValidator: outputValidator,
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: toolDefinitions.map((tool) => ({
      ...tool,
      inputSchema: { ...tool.inputSchema, required: [...tool.inputSchema.required] },
      outputSchema: { ...outputSchema, required: [...outputSchema.required] },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { requestState, inputResponses, signal } = context.mcpReq;
    const answer = await tools.call({
      name: params.name,
      input: isJsonObject(params.arguments) ? params.arguments : {},
      state: requestState<string>(),
      answers: inputResponses,
      signal,
      canAsk: canAsk(server, context),
      onProgress: toProgress(context),
    });
    return toResult(answer);
  });
  server.setRequestHandler("resources/list", async ({ params }) => await told(listResources(host, params?.cursor)));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const text = await readResource(host, uri);
    if (text === undefined) throw new official.ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: "application/json", text }] };
  });
  server.setRequestHandler("prompts/list", async () => ({
    prompts: toPrompts(await host.commands()).map((prompt) => ({ ...prompt, arguments: [...prompt.arguments] })),
  }));
  server.setRequestHandler("prompts/get", async ({ params: { name, arguments: given = {} } }) => {
    const commands = await host.commands();
    const text = await told((async () => toPromptText(commands, name, given["args"] ?? ""))());
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  });
  return server;
}

/** A client of the new era says in each request what it can do, one of the old era when it introduces itself. */
function canAsk(server: OfficialServer, { mcpReq: { envelope } }: Context): boolean {
  const named = (envelope as JsonObject | undefined)?.[official.CLIENT_CAPABILITIES_META_KEY]; // as it was received
  const abilities: unknown = named ?? server.getClientCapabilities();
  const elicitation = isJsonObject(abilities) ? abilities["elicitation"] : undefined;
  if (!isJsonObject(elicitation)) return false;
  return elicitation["form"] !== undefined || elicitation["url"] === undefined; // empty stands for forms
}

function toProgress({ mcpReq }: Context): (line: string) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress++;
    const told = mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
    told.catch(() => {}); // the client has left; its request is aborted
  };
}

function toResult(answer: ToolAnswer) {
  if (answer.type === "ask") {
    const questions = Object.entries(answer.questions).map(([id, { message, requestedSchema }]) => [
      id,
      official.inputRequired.elicit({
        message,
        requestedSchema: { ...requestedSchema, required: [...requestedSchema.required] },
      }),
    ]);
    return official.inputRequired({ inputRequests: Object.fromEntries(questions), requestState: answer.state });
  }
  const { text, structured, isError } = answer;
  return {
    content: [{ type: "text" as const, text }],
    structuredContent: structured as JsonObject & Record<string, never>,
    isError,
  };
}

/** What is wrong with a request is told as the protocol wants it. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code, message } = toRuntimeError(error);
    const isTheirs = code === "usage" || code === "not-found";
    const { InvalidParams, InternalError } = official.ProtocolErrorCode;
    throw new official.ProtocolError(isTheirs ? InvalidParams : InternalError, message);
  }
}
