import type { CallToolResult, Client, Tool as ServerTool } from "@modelcontextprotocol/client";
import type { ImagePart, JsonObject, TextPart } from "../../protocol/content.ts";
import { shortChecksum } from "../../util/short-checksum.ts";
import { type Tool, type ToolContext, ToolFailure, type ToolOutput } from "../tool.ts";
import { toServerName } from "./server-config.ts";

/** Providers take no longer names. */
const maxNameLength = 64;
const maxDescription = 4_000;
/** What is longer is in the words too, where it is kept whole. */
const maxStructured = 256 * 1024;

/** A tool of a server, under the name by which models and rules know it. */
export function toTool(
  server: string,
  { tool, client, timeoutMs, limitMs }: { tool: ServerTool; client: Client; timeoutMs: number; limitMs?: number | undefined },
): Tool {
  return {
    name: toToolName(server, tool.name),
    description: (tool.description ?? tool.title ?? tool.name).slice(0, maxDescription),
    inputSchema: tool.inputSchema as JsonObject, // JSON by the protocol
    concurrent: tool.annotations?.readOnlyHint === true,
    async access() {
      // What a server does cannot be known; its own hints are no reason to trust it.
      return { kind: "reach", resources: [] };
    },
    execute: (input, context) => callTool(client, { name: tool.name, input, context, timeoutMs, limitMs }),
  };
}

export function toToolName(server: string, tool: string): string {
  const name = `mcp__${toServerName(server)}__${tool.replace(/[^A-Za-z0-9_-]/g, "_")}`;
  if (name.length <= maxNameLength) return name;
  return `${name.slice(0, maxNameLength - 9)}_${shortChecksum(name)}`;
}

async function callTool(
  client: Client,
  call: { name: string; input: unknown; context: ToolContext; timeoutMs: number; limitMs: number | undefined },
): Promise<ToolOutput> {
  const { context, timeoutMs, limitMs } = call;
  let result: CallToolResult;
  try {
    result = await client.callTool(
      {
        name: call.name,
        arguments: call.input as Record<string, unknown>, // checked against the tool's schema, which is an object's
        _meta: { "claudecode/toolUseId": context.callId },
      },
      {
        signal: context.signal,
        timeout: timeoutMs,
        resetTimeoutOnProgress: limitMs === undefined, // a limit that somebody has set is one for the whole call
        onprogress: ({ progress, total, message }) =>
          context.progress(message ?? (total ? `${progress} of ${total}` : String(progress))),
      },
    );
  } catch (error) {
    context.signal.throwIfAborted();
    throw new ToolFailure(`The MCP server did not answer the call: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const content = result.content.map(toPart);
  if (content.length === 0 && result.structuredContent !== undefined)
    content.push({ type: "text", text: JSON.stringify(result.structuredContent) });
  return {
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }],
    isError: result.isError === true,
    ...detailsOf(result),
  };
}

function detailsOf({ structuredContent }: CallToolResult): Pick<ToolOutput, "details"> {
  if (structuredContent === undefined || JSON.stringify(structuredContent).length > maxStructured) return {};
  return { details: { structuredContent: structuredContent as JsonObject } }; // JSON by the protocol
}

function toPart(block: CallToolResult["content"][number]): TextPart | ImagePart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", mediaType: block.mimeType, data: block.data };
    case "audio":
      return { type: "text", text: `(audio, ${block.mimeType}, not shown)` };
    case "resource_link":
      return { type: "text", text: `${block.name}: ${block.uri}` };
    case "resource": {
      const { resource } = block;
      return { type: "text", text: "text" in resource ? resource.text : `(binary resource ${resource.uri})` };
    }
  }
}
