import { isRecord } from "../../util/is-record.ts";

/**
 * The calls that are being answered. A client of the older era takes one back with a request of its own, which only says the number of the call:
 * clients count for themselves, so each has a name, which it is given when it introduces itself.
 */
export class McpCalls {
  readonly #open = new Map<string, Set<AbortController>>();

  /** Of this request: aborts when the client has left, or has taken it back. */
  begin(client: string, body: unknown, left: AbortSignal): AbortSignal {
    const id = isRecord(body) && typeof body["method"] === "string" ? body["id"] : undefined;
    if ((typeof id !== "string" && typeof id !== "number") || left.aborted) return left;
    const key = JSON.stringify([client, id]);
    const calls = this.#open.get(key) ?? new Set();
    const call = new AbortController();
    this.#open.set(key, calls.add(call));
    const end = (): void => {
      calls.delete(call);
      if (calls.size === 0 && this.#open.get(key) === calls) this.#open.delete(key);
    };
    left.addEventListener("abort", end, { once: true }); // a connection that has been answered is left, too
    return AbortSignal.any([left, call.signal]);
  }

  /** Where several clients have no name, nobody knows whose call it is: then nothing is taken back. */
  takeBack(client: string, body: unknown): void {
    if (!isRecord(body) || body["method"] !== "notifications/cancelled" || !isRecord(body["params"])) return;
    const calls = this.#open.get(JSON.stringify([client, body["params"]["requestId"]]));
    if (calls?.size === 1) for (const call of calls) call.abort();
  }
}
