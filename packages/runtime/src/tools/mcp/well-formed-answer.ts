import { isRecord } from "../../util/is-record.ts";
import type { McpMessage } from "./transport.ts";

const internalError = -32603;

/**
 * An answer as the client takes it. It drops one that is wrongly made, and whoever asked would wait until the time is up: such a one becomes
 * the failure of its request. `asked` are the requests that wait.
 */
export function toWellFormedAnswer(message: McpMessage, asked: ReadonlySet<string | number>): McpMessage {
  if (message.method !== undefined || message.id === undefined) return message;
  const id = idOf(message.id, asked);
  if (!asked.has(id)) return message;
  const { result, error } = message as { readonly result?: unknown; readonly error?: unknown };
  const answer = { jsonrpc: "2.0", id } as const;
  if (error === undefined || error === null) {
    if (isRecord(result)) return { ...answer, result };
    const what = result === undefined ? "neither a result nor an error" : `a result that is no object: ${shown(result)}`;
    return { ...answer, error: { code: internalError, message: `The server's answer has ${what}` } };
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

/** Some write a number as a text. */
function idOf(id: string | number, asked: ReadonlySet<string | number>): string | number {
  if (asked.has(id) || typeof id !== "string" || !/^\d{1,15}$/.test(id)) return id;
  return Number(id);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 200);
}
