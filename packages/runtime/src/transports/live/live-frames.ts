import { isJsonObject, type JsonObject, type JsonValue, type UserMessage } from "../../protocol/content.ts";
import type { ControlReply } from "./control-requests.ts";
import { defined } from "../../util/defined.ts";
import { toMediaBlock } from "../../protocol/media.ts";

/** The answer to a request of the host. */
export function toControlResponse(requestId: string, reply: ControlReply): JsonObject {
  if ("response" in reply) {
    const answer = { subtype: "success", request_id: requestId, response: reply.response };
    return { type: "control_response", response: { ...answer, ...reply.beside } };
  }
  const code = reply.code === undefined ? {} : { error_code: reply.code };
  return { type: "control_response", response: { subtype: "error", request_id: requestId, error: reply.error, ...code } };
}

type Stamp = { readonly session_id: string; readonly uuid: string; readonly timestamp: string };

/** A message of the host, written back to it when its turn comes, in the form in which it came. */
export function toReplay({ content }: UserMessage, isText: boolean, stamp: Stamp): JsonObject {
  const [first] = content;
  return {
    type: "user",
    message: { role: "user", content: isText && first?.type === "text" ? first.text : content.map(toBlock) },
    parent_tool_use_id: null,
    isReplay: true,
    ...stamp,
  };
}

function toBlock(part: UserMessage["content"][number]): JsonValue {
  if (part.type === "text") return { type: "text", text: part.text };
  return toMediaBlock(part);
}

/** A question of an MCP server to the user, as hosts are asked it. */
export function toElicitation(server: string, request: JsonObject): JsonObject & { subtype: string } {
  const { requestedSchema, elicitationId, ...fields } = request;
  const properties = isJsonObject(requestedSchema) ? requestedSchema["properties"] : undefined;
  return {
    subtype: "elicitation",
    mcp_server_name: server,
    ...fields,
    ...defined({ elicitation_id: elicitationId, requested_schema: requestedSchema }),
    ...(isJsonObject(properties) && { property_order: Object.keys(properties) }),
  };
}
