import { isRecord } from "../../util/is-record.ts";
import type { McpMessage } from "./transport.ts";

/** A message or a list of them; undefined for what is neither. */
export function parseMessages(text: string): McpMessage[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const all = [value].flat();
    return all.every(isRecord) ? (all as McpMessage[]) : undefined; // what they hold is checked by the client
  } catch {
    return undefined;
  }
}
