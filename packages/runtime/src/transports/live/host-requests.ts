import type { JsonObject } from "../../protocol/content.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import type { ControlChannel } from "./control-channel.ts";
import { answerControlRequest, type ControlReply, type ControlTargets } from "./control-requests.ts";
import { type LiveSetup, readSetup } from "./initialize.ts";
import { toControlResponse } from "./live-frames.ts";
import type { LiveOptions } from "./live-options.ts";

type HostRequestsOptions = Pick<LiveOptions, "describe" | "warn"> & {
  readonly channel: ControlChannel;
  readonly send: (frame: JsonObject) => void;
  readonly targets: () => ControlTargets;
  /** The session is there, or on its way: what it is made of can no longer be said. */
  readonly hasBegun: () => boolean;
};

/** What a host asks for besides prompts. Its first request may be `initialize`, which says what the session is made of. */
export class HostRequests {
  readonly #options: HostRequestsOptions;
  /** Requests that are not answered yet. */
  readonly #answering = new Set<Promise<void>>();
  #setup: LiveSetup = { hostServers: new Map(), unsupported: [] };
  #isInitialized = false;
  #isServed = false;
  #giveUp: () => void = () => {};
  /** Resolves when the host has introduced itself, or never will. */
  readonly initialized: Promise<void> = new Promise<void>((resolve) => {
    this.#giveUp = resolve;
  });
  /** The host has its answer to `initialize`: what it asked for comes after it. */
  introduced: Promise<void> = Promise.resolve();

  constructor(options: HostRequestsOptions) {
    this.#options = options;
  }

  get setup(): LiveSetup {
    return this.#setup;
  }

  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  /** Something was asked for, if not a prompt. */
  get isServed(): boolean {
    return this.#isServed;
  }

  /** Nothing more is read: nobody waits for an introduction any longer. */
  giveUp(): void {
    this.#giveUp();
  }

  /** Requests are answered beside each other, each when its answer is there. */
  take(requestId: string, request: JsonObject & { subtype: string }): void {
    const answering = this.#answer(requestId, request);
    this.#answering.add(answering);
    void answering.finally(() => this.#answering.delete(answering));
  }

  async done(): Promise<void> {
    await Promise.all(this.#answering);
  }

  async #answer(requestId: string, request: JsonObject & { subtype: string }): Promise<void> {
    const { send, targets } = this.#options;
    this.#isServed = true;
    if (request.subtype !== "initialize") {
      const reply = await answerControlRequest(request, targets());
      send(toControlResponse(requestId, reply));
      return "response" in reply ? reply.after?.() : undefined;
    }
    const replying = this.#initialize(request);
    this.introduced = replying.then((reply) => send(toControlResponse(requestId, reply)));
    await this.introduced;
  }

  /** A host that asks again has lost the thread: what it asked for at first holds, and it hears what it has yet to answer. */
  async #initialize(request: JsonObject): Promise<ControlReply> {
    const { describe, warn, channel, hasBegun } = this.#options;
    if (hasBegun() && !this.#isInitialized) return { error: "The session has begun already" };
    if (!this.#isInitialized) {
      this.#setup = readSetup(request, channel); // before anything is waited for: the first prompt is right behind
      this.#isInitialized = true;
      this.#giveUp();
      for (const field of this.#setup.unsupported) warn(`initialize: ${field} is not supported here and has no effect`);
    }
    try {
      const beside = { pending_permission_requests: channel.open("can_use_tool"), pending_user_dialog_requests: [] };
      return { response: await describe(this.#setup), beside };
    } catch (error) {
      return { error: toRuntimeError(error).message };
    }
  }
}
