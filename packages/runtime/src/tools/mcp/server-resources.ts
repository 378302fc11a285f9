import type { Client } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { defineTool, type Tool, ToolFailure, type ToolOutput } from "../tool.ts";
import { askServer } from "./call-server.ts";
import { withKeptMedia } from "./kept-media.ts";
import { toPart } from "./tool-result.ts";
import { messageOf } from "../../util/message-of.ts";

/** What a server has to read, in its own words. */
type ServerResource = {
  readonly server: string;
  /** A template has braces in it, for the reader to fill in. */
  readonly uri: string;
  readonly name?: string;
  readonly description?: string;
  readonly mimeType?: string;
};

/** A connected server, as far as its resources go. */
export type ResourceServer = {
  readonly name: string;
  use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T>;
};

const maxPages = 20;
const maxListed = 1_000;

/** Resources and templates of a server, page by page. */
async function listResources({ name: server, use }: ResourceServer, signal: AbortSignal): Promise<ServerResource[]> {
  const pages = async (method: string, key: string): Promise<JsonValue[]> => {
    const found: JsonValue[] = [];
    let cursor: JsonValue | undefined;
    for (let page = 0; page < maxPages && found.length < maxListed; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await use(async (client) => await askServer(client, { method, params }, { signal }), signal);
      if (Array.isArray(result[key])) found.push(...result[key]);
      if (typeof result["nextCursor"] !== "string" || result["nextCursor"] === cursor) break;
      cursor = result["nextCursor"];
    }
    return found.slice(0, maxListed);
  };
  const plain = await pages("resources/list", "resources");
  const templates = await pages("resources/templates/list", "resourceTemplates").catch(() => []); // not every server knows them
  return [...plain, ...templates].flatMap((value) => toResource(server, value));
}

function toResource(server: string, value: JsonValue): ServerResource[] {
  if (!isJsonObject(value)) return [];
  const { uri = value["uriTemplate"], name, description, mimeType } = value;
  if (typeof uri !== "string") return [];
  return [
    {
      server,
      uri,
      ...(typeof name === "string" && { name }),
      ...(typeof description === "string" && { description }),
      ...(typeof mimeType === "string" && { mimeType }),
    },
  ];
}

/** What a resource holds, as the server gives it. */
export async function readResource(server: ResourceServer, uri: string, signal: AbortSignal): Promise<JsonObject[]> {
  const asked = { method: "resources/read", params: { uri } };
  const { contents } = await server.use(async (client) => await askServer(client, asked, { signal }), signal);
  return Array.isArray(contents) ? contents.filter(isJsonObject) : [];
}

/** Tools that list and read what servers have; none where no server has anything. */
export function resourceTools(servers: () => readonly ResourceServer[]): Tool[] {
  if (servers().length === 0) return [];
  const wanted = (name: string): ResourceServer => {
    const found = servers().find((server) => server.name === name);
    if (found) return found;
    const names = servers().map((server) => server.name);
    throw new ToolFailure(`There is no MCP server ${JSON.stringify(name)} with resources. There are: ${names.join(", ")}`);
  };
  return [listTool(servers, wanted), readTool(servers, wanted)];
}

function listTool(servers: () => readonly ResourceServer[], wanted: (name: string) => ResourceServer): Tool {
  return defineTool<{ server?: string }>({
    name: "ListMcpResourcesTool",
    description:
      "Lists what MCP servers have to read: the server, the address and a description of each. Read one with ReadMcpResourceTool.",
    inputSchema: {
      type: "object",
      properties: { server: { type: "string", description: "Only what this server has" } },
      additionalProperties: false,
    },
    concurrent: true,
    comesFromServers: true,
    forgives: {},
    access: async () => ({ kind: "note", resources: [] }), // what is listed was offered to us
    async execute({ server }, { signal }): Promise<ToolOutput> {
      const chosen = server === undefined ? servers() : [wanted(server)];
      const lists = await Promise.allSettled(chosen.map(async (one) => await listResources(one, signal)));
      signal.throwIfAborted();
      const found = lists.flatMap((list) => (list.status === "fulfilled" ? list.value : []));
      const failed = lists.flatMap((list, index) =>
        list.status === "rejected" ? [`${chosen[index]?.name} did not answer: ${messageOf(list.reason)}`] : [],
      );
      const text = [found.length === 0 ? "There are no resources." : JSON.stringify(found, null, 2), ...failed].join("\n");
      return {
        content: [{ type: "text", text }],
        isError: found.length === 0 && failed.length > 0,
        details: { structuredContent: { resources: found } },
      };
    },
  });
}

function readTool(servers: () => readonly ResourceServer[], wanted: (name: string) => ResourceServer): Tool {
  return defineTool<{ server: string; uri: string }>({
    name: "ReadMcpResourceTool",
    description: "Reads a resource of an MCP server by its address. ListMcpResourcesTool says what there is.",
    inputSchema: {
      type: "object",
      properties: {
        server: { type: "string", description: "The name of the server" },
        uri: { type: "string", description: "The address of the resource" },
      },
      required: ["server", "uri"],
      additionalProperties: false,
    },
    concurrent: true,
    comesFromServers: true,
    forgives: {},
    facts: {
      kind: "reach",
      readsResources: { server: "server", address: "uri", servers: () => servers().map(({ name }) => name) },
    },
    // The address may tell the server something, wherever that is.
    access: async ({ server, uri }) => ({ kind: "reach", resources: [`${server}:${uri}`] }),
    async execute({ server, uri }, { signal, workspace, callId }): Promise<ToolOutput> {
      const contents = await readResource(wanted(server), uri, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new ToolFailure(`The MCP server ${server} did not give ${uri}: ${messageOf(error)}`, { cause: error });
      });
      const blocks = contents.map((resource): JsonObject => ({ type: "resource", resource }));
      const { content } = await withKeptMedia({ content: blocks }, { workspace, callId });
      const parts = (Array.isArray(content) ? content : []).map(toPart);
      // What a program is told has only words: bytes are kept in files, and named in what the model reads.
      const told = contents.map(({ blob: _, ...resource }) => resource);
      return {
        content: parts.length > 0 ? parts : [{ type: "text", text: "(the resource is empty)" }],
        details: { structuredContent: { contents: told } },
      };
    },
  });
}
