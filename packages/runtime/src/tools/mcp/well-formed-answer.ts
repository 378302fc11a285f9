import { isRecord } from "../../util/is-record.ts";
import type { McpMessage } from "./transport.ts";

const internalError = -32603;

/** An answer to the request `id` as the client takes it. It drops one that is wrongly made: such a one becomes the failure of its request. */
export function toWellFormedAnswer(message: McpMessage, id: string | number): McpMessage {
  const { result, error } = message as { readonly result?: unknown; readonly error?: unknown };
  const answer = { jsonrpc: "2.0", id } as const;
  if (error === undefined || error === null) {
    if (isRecord(result)) return { ...answer, result };
    const what = result === undefined ? "neither a result nor an error" : `a result that is no object: ${shown(result)}`;
    return toFailure(id, `The server's answer has ${what}`);
  }
  const { code, message: words, data } = isRecord(error) ? error : { code: undefined, message: error, data: undefined };
  return {
    ...answer,
    error: {
      code: Number.isInteger(code) ? code : internalError,
      message: typeof words === "string" ? words : shown(error),
      ...(data !== undefined && { data }),
    },
  };
}

/** The end of a request that has no answer. */
export function toFailure(id: string | number, message: string): McpMessage {
  return { jsonrpc: "2.0", id, error: { code: internalError, message } };
}

/** The beginning of something that a server said. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 200);
}
