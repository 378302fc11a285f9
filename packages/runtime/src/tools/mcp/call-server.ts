import type { Client } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import { parseServerTool, type ServerTool } from "./server-tool.ts";

type RequestOptions = NonNullable<Parameters<Client["callTool"]>[1]>;

/** Takes any answer: one odd tool or block is no reason to lose the others, which is what the package's own checks would do. */
const anything = {
  "~standard": { version: 1 as const, vendor: "outrider", validate: (value: unknown) => ({ value }) },
};

const maxPages = 64;
const maxTools = 5_000;

/** All tools of a server, page by page. Those without a name are left out, and of two with one name the first is taken. */
export async function listServerTools(client: Client, options: RequestOptions): Promise<ServerTool[]> {
  const found = new Map<string, ServerTool>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const result = await client.request({ method: "tools/list", ...params }, anything, options);
    if (!isJsonObject(result) || !Array.isArray(result["tools"])) throw new Error("it answered tools/list with no list of tools");
    for (const tool of result["tools"].map(parseServerTool))
      if (tool && !found.has(tool.name) && found.size < maxTools) found.set(tool.name, tool);
    const { nextCursor } = result;
    if (typeof nextCursor !== "string" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return [...found.values()];
}

/** What a tool answered, as it came. */
export async function callServerTool(
  client: Client,
  params: { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> },
  options: RequestOptions,
): Promise<JsonObject> {
  const result = await client.request({ method: "tools/call", params }, anything, options);
  return isJsonObject(result) ? result : {};
}
