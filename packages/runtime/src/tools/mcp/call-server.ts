import type { Client } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { isTooDeep, maxJsonDepth } from "../../util/too-deep.ts";
import { lengthOfOversized } from "./oversized-message.ts";
import { parseServerTool, type ServerTool } from "./server-tool.ts";

export type RequestOptions = NonNullable<Parameters<Client["callTool"]>[1]>;

/** Takes any answer: one odd tool or block is no reason to lose the others, which is what the package's own checks would do. */
const anything = {
  "~standard": { version: 1 as const, vendor: "outrider", validate: (value: unknown) => ({ value }) },
};

const maxPages = 64;
const maxTools = 5_000;

/** `notes`: what of it is left out. */
export type ServerToolList = { readonly tools: readonly ServerTool[]; readonly notes: readonly string[] };

/** All tools of a server, page by page. Those without a name are left out, and of two with one name the first is taken. */
export async function listServerTools(client: Client, options: RequestOptions): Promise<ServerToolList> {
  const found = new Map<string, ServerTool>();
  const leftOut = { nameless: 0, twice: 0, tooMany: 0 };
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const result = await client.request({ method: "tools/list", ...params }, anything, options);
    const length = lengthOfOversized(result);
    if (length !== undefined) throw new Error(`it answered tools/list with ${length} characters, more than can be held`);
    if (!isJsonObject(result) || !Array.isArray(result["tools"])) throw new Error("it answered tools/list with no list of tools");
    for (const tool of result["tools"].map(parseServerTool)) {
      if (!tool) leftOut.nameless++;
      else if (found.has(tool.name)) leftOut.twice++;
      else if (found.size >= maxTools) leftOut.tooMany++;
      else found.set(tool.name, tool);
    }
    const { nextCursor } = result;
    if (typeof nextCursor !== "string" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  const tools = [...found.values()];
  return { tools, notes: [...notesOf(leftOut), ...tools.flatMap(problemOf).slice(0, maxNotes)] };
}

const maxNotes = 10;

function notesOf({ nameless, twice, tooMany }: Record<"nameless" | "twice" | "tooMany", number>): string[] {
  const say = (count: number, why: string): string[] =>
    count === 0 ? [] : [`${count} ${count === 1 ? "tool is" : "tools are"} left out: ${why}`];
  return [
    ...say(nameless, "without a name that is a text"),
    ...say(twice, "with a name that another one has"),
    ...say(tooMany, `more than ${maxTools} are not taken`),
  ];
}

function problemOf({ name, problem }: ServerTool): string[] {
  return problem === undefined ? [] : [`of the tool ${JSON.stringify(name.slice(0, 100))} ${problem}`];
}

/** What a server answers to a request, as it came. An answer that is no object is like an empty one. */
export async function askServer(
  client: Client,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  options: RequestOptions,
): Promise<JsonObject> {
  const result = await client.request({ method, params }, anything, options);
  return isJsonObject(result) ? withoutDepth(result) : {};
}

/** What a tool answered, as it came, but for what nobody could walk through. */
export async function callServerTool(
  client: Client,
  params: { name: string; arguments: Record<string, unknown>; _meta?: Record<string, unknown> },
  options: RequestOptions,
): Promise<JsonObject> {
  const result = await client.request({ method: "tools/call", params }, anything, options);
  return isJsonObject(result) ? withoutDepth(result) : {};
}

function withoutDepth(result: JsonObject): JsonObject {
  if (!isTooDeep(result)) return result;
  const { content, structuredContent, isError } = result;
  const blocks = Array.isArray(content) ? content : content === undefined ? [] : [content];
  const words = (what: string): JsonValue => ({
    type: "text",
    text: `(${what} is nested more than ${maxJsonDepth} levels deep and is not shown)`,
  });
  return {
    content: [
      ...blocks.map((block) => (isTooDeep(block) ? words("a block of the answer") : block)),
      ...(isTooDeep(structuredContent) ? [words("the structured answer")] : []),
    ],
    ...(structuredContent !== undefined && !isTooDeep(structuredContent) && { structuredContent }),
    ...(isError !== undefined && { isError: isError === true }),
  };
}
