import type { Client } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonValue } from "../../protocol/content.ts";
import { askServer } from "./call-server.ts";
import { toServerName } from "./server-config.ts";
import type { FilledPrompt, ServerPrompt } from "./server-prompt.ts";
import { toPart } from "./tool-result.ts";

type PromptServer = { readonly name: string; use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T> };

const maxPages = 20;

export async function listPrompts({ name: server, use }: PromptServer, signal: AbortSignal): Promise<ServerPrompt[]> {
  const found: JsonValue[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const asked = { method: "prompts/list", params };
    const { prompts, nextCursor } = await use(async (client) => await askServer(client, asked, { signal }), signal);
    if (Array.isArray(prompts)) found.push(...prompts);
    if (typeof nextCursor !== "string" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return found.flatMap((value) => toPrompt(server, value));
}

/** The prompt with these values for its arguments. Rejects when the server refuses them. */
export async function getPrompt(
  server: PromptServer,
  {
    name,
    values,
    signal,
  }: { readonly name: string; readonly values: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<FilledPrompt> {
  const asked = { method: "prompts/get", params: { name, arguments: values } };
  const { messages } = await server.use(async (client) => await askServer(client, asked, { signal }), signal);
  return (Array.isArray(messages) ? messages : []).flatMap((message) => {
    if (!isJsonObject(message)) return [];
    const { role, content } = message;
    const blocks = Array.isArray(content) ? content : content === undefined ? [] : [content];
    return [{ role: role === "assistant" ? "assistant" : "user", content: blocks.map(toPart) }] satisfies FilledPrompt;
  });
}

function toPrompt(server: string, value: JsonValue): ServerPrompt[] {
  if (!isJsonObject(value)) return [];
  const { name, title, description, arguments: wanted } = value;
  if (typeof name !== "string" || name === "") return [];
  const words = [description, title].find((text) => typeof text === "string");
  return [
    {
      command: `mcp__${toServerName(server)}__${name.replace(/[^A-Za-z0-9_-]/g, "_")}`,
      server,
      name,
      ...(typeof words === "string" && { description: words }),
      arguments: (Array.isArray(wanted) ? wanted : []).flatMap((argument) => {
        if (!isJsonObject(argument) || typeof argument["name"] !== "string") return [];
        const { name, description, required } = argument;
        return [{ name, ...(typeof description === "string" && { description }), required: required === true }];
      }),
    },
  ];
}
