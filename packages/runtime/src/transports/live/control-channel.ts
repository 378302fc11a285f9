import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ControlAnswer } from "./input-frame.ts";

type Waiting = {
  readonly frame: JsonObject;
  readonly resolve: (response: JsonObject) => void;
  readonly reject: (error: RuntimeError) => void;
};

/** Questions to the host and its answers, told apart by id. A question that can no longer be answered is rejected, never left open. */
export class ControlChannel {
  readonly #send: (frame: JsonObject) => void;
  readonly #newId: () => string;
  readonly #waiting = new Map<string, Waiting>();
  #closed = false;

  constructor(options: { send: (frame: JsonObject) => void; newId: () => string }) {
    this.#send = options.send;
    this.#newId = options.newId;
  }

  /** Nobody will answer any more. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Asks the host. An abort withdraws the question, and tells the host so. */
  async ask(request: JsonObject & { subtype: string }, signal: AbortSignal): Promise<JsonObject> {
    if (this.#closed) throw gone(request.subtype);
    signal.throwIfAborted();
    const requestId = this.#newId();
    const frame = { type: "control_request", request_id: requestId, request };
    const answer = new Promise<JsonObject>((resolve, reject) => this.#waiting.set(requestId, { frame, resolve, reject }));
    const withdraw = (): void => {
      if (!this.#waiting.has(requestId)) return;
      this.#send({ type: "control_cancel_request", request_id: requestId });
      this.#fail(requestId, new RuntimeError("closed", `${request.subtype} was withdrawn`));
    };
    signal.addEventListener("abort", withdraw);
    this.#send(frame);
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", withdraw);
    }
  }

  /** Questions of this kind that are still to be answered. */
  open(subtype: string): JsonObject[] {
    const frames = [...this.#waiting.values()].map(({ frame }) => frame);
    return frames.filter(({ request }) => isJsonObject(request) && request["subtype"] === subtype);
  }

  /** An answer from the host; one that nobody waits for any more is ignored. */
  settle(requestId: string, answer: ControlAnswer): void {
    if (answer.type === "error") return this.#fail(requestId, new RuntimeError("usage", answer.message));
    const waiting = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    waiting?.resolve(answer.response);
  }

  /** The host is gone: nothing will be answered any more. */
  close(): void {
    this.#closed = true;
    for (const requestId of [...this.#waiting.keys()]) this.#fail(requestId, gone("the question"));
  }

  #fail(requestId: string, error: RuntimeError): void {
    const waiting = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    waiting?.reject(error);
  }
}

function gone(what: string): RuntimeError {
  return new RuntimeError("closed", `${what}: the input has ended, so nobody can answer`);
}
