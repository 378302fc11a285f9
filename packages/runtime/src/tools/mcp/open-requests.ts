import type { McpMessage } from "./transport.ts";
import { shown, toFailure, toWellFormedAnswer } from "./well-formed-answer.ts";

export type RequestId = string | number;

/**
 * The requests to a server that wait for an answer, and which of them an answer is for. Whoever asked would wait until the time is up when it
 * is for none: one to a request that was never made is the failure of the only one that it can have been meant for.
 */
export class OpenRequests {
  readonly #open = new Set<RequestId>();
  /** Ids are numbers that grow: a smaller one was given up. */
  #last = -1;

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): Iterator<RequestId> {
    return this.#open.values();
  }

  /** Those of these that wait; of all without a list. */
  among(ids: Iterable<RequestId> = this.#open): RequestId[] {
    return [...ids].filter((id) => this.#open.has(id));
  }

  /** What goes to the server. Answers the id of a request. */
  send({ method, id, params }: McpMessage): RequestId | undefined {
    if (method === "notifications/cancelled") this.#open.delete(Object(params).requestId);
    if (method === undefined || id === undefined) return undefined;
    this.#open.add(id);
    if (typeof id === "number") this.#last = Math.max(this.#last, id);
    return id;
  }

  /** What comes from the server, as the client takes it. `ids`: the requests that it can be for; all by default. */
  receive(message: McpMessage, ids?: Iterable<RequestId>): McpMessage {
    if (message.method !== undefined) return message;
    const id = this.#idOf(message);
    if (id !== undefined) {
      this.#open.delete(id);
      return toWellFormedAnswer(message, id);
    }
    const [only, second] = this.among(ids);
    if (only === undefined || second !== undefined || !this.#isForNobody(message)) return message;
    this.#open.delete(only);
    if (hasNoId(message)) return toWellFormedAnswer(message, only);
    return toFailure(only, `The server answered another request, with the id ${shown(message.id)}`);
  }

  /** The ends of those that wait, which get no other answer. */
  fail(message: string, ids?: Iterable<RequestId>): McpMessage[] {
    const open = this.among(ids);
    for (const id of open) this.#open.delete(id);
    return open.map((id) => toFailure(id, message));
  }

  /** Some write a number as a text. */
  #idOf({ id }: McpMessage): RequestId | undefined {
    if (id === undefined || this.#open.has(id)) return id;
    const number = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
    return number !== undefined && this.#open.has(number) ? number : undefined;
  }

  /** An answer that no request of ours can have had: not one that came too late, and not a line of a log that happens to be JSON. */
  #isForNobody(message: McpMessage): boolean {
    const { jsonrpc, id, result, error } = message as { [Key in keyof McpMessage]: unknown };
    if (jsonrpc === undefined) return false;
    if (hasNoId(message)) return error !== undefined && error !== null;
    if (result === undefined && error === undefined) return false;
    return typeof id === "number" ? id > this.#last : !/^\d{1,15}$/.test(String(id)) || Number(id) > this.#last;
  }
}

/** As an error has that says that the request could not be read. */
function hasNoId({ id }: { readonly id?: unknown }): boolean {
  return id === undefined || id === null;
}
