import type {
  AgentEvent,
  HeldSession,
  HostedRequest,
  InteractiveSession,
  Outcome,
  SessionHost,
  SessionStore,
  UserMessage,
} from "@outrider/runtime";
import { RunSuspended } from "../durable/durable.ts";
import { governedProvider, type Governing } from "../limits/governed-provider.ts";
import { isUnfinished, lookBack } from "./past-turns.ts";

export type TaskSessionOptions = {
  readonly host: SessionHost;
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly request: Omit<HostedRequest, "session" | "opening">;
  readonly prompt: () => Promise<string | UserMessage>;
  readonly governing: Governing;
  /** Somebody answers what would be asked. */
  readonly asks: boolean;
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Milliseconds since 1970. */
  readonly deadlineAt: number | undefined;
};

/** Where a session stands after a step. JSON, so that a step can keep it. */
export type Advance =
  | { readonly type: "went-on" }
  | { readonly type: "asks"; readonly requestId: string; readonly tool: string; readonly reason: string }
  | { readonly type: "ended" };

/** What a model is told that was cut off: it is not told the task again, which is in the conversation. */
const goOnWords =
  "The program in which you worked was ended and has been started again. Go on with the task from where you were. " +
  "A call that was interrupted, or whose outcome is unknown, may have had its effect in full, in part or not at all: look before you repeat it.";

/**
 * One task's conversation, advanced step by step. Its journal is the state: a new process takes up where the journal ends, no answer and no
 * finished call is asked for again, and a call that was cut off is told to the model as one whose outcome is unknown.
 */
export class TaskSession {
  readonly #options: TaskSessionOptions;
  #held: HeldSession | undefined;
  #outcome: Promise<Outcome> | undefined;
  #ended: Outcome | undefined;
  #progress = 0;
  #seen = 0;
  #openCalls = 0;
  #question: Extract<Advance, { type: "asks" }> | undefined;
  #wake: () => void = () => {};
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: TaskSessionOptions) {
    this.#options = options;
  }

  /** Until the model has answered, its calls are done, somebody is to be asked, or all is over. Stops with the signal. */
  async advance(signal: AbortSignal): Promise<Advance> {
    signal.throwIfAborted();
    const stop = (): void => this.#held?.session.abort("signal");
    signal.addEventListener("abort", stop, { once: true });
    try {
      const isOver = await this.#open(signal);
      if (isOver) return { type: "ended" };
      while (true) {
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        if (this.#ended) return await this.#end(this.#ended, signal);
        if (this.#question) return this.#question;
        if (this.#seen < this.#progress) {
          this.#seen = this.#progress;
          return { type: "went-on" };
        }
        await woken;
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** What somebody said to a question. A session that was opened anew since does not ask it any more. */
  answer(requestId: string, isAllowed: boolean): void {
    if (this.#question?.requestId !== requestId) return;
    this.#question = undefined;
    this.#held?.session.answerPermission(requestId, isAllowed ? "allow" : "deny");
  }

  async close(): Promise<void> {
    clearTimeout(this.#deadline);
    await this.#options.host.close(this.#options.sessionId);
    await this.#outcome?.catch(() => {});
  }

  /** True when the journal shows that all is over. */
  async #open(signal: AbortSignal): Promise<boolean> {
    if (this.#held) return false;
    const { host, store, sessionId, request, governing, asks, prompt } = this.#options;
    const has = await store.has(sessionId);
    const past = has ? lookBack(await store.read(sessionId), { isFree: request.options?.outputSchema === undefined }) : undefined;
    if (past?.type === "ended") return true;
    if (past?.type === "new") await store.remove(sessionId);
    const isResumed = past?.type === "cut-off";
    const session = isResumed ? ({ type: "resume", id: sessionId } as const) : ({ type: "new", id: sessionId } as const);
    const words = isResumed ? goOnWords : await prompt();
    const plan = await host.plan({ ...request, session });
    await plan.begin();
    signal.throwIfAborted();
    const provider = governedProvider(plan.options.provider, governing);
    this.#held = await host.openPlan(plan, { options: { provider }, ...(asks && { answers: "host" as const }) });
    this.#follow(this.#held.session);
    this.#startDeadline(this.#held.session);
    this.#outcome = this.#submit(this.#held.session, words);
    return false;
  }

  async #submit(session: InteractiveSession, words: string | UserMessage): Promise<Outcome> {
    try {
      const outcome = await session.submit(words);
      if (outcome.type === "completed" && session.listBackgroundTasks().length > 0) await session.finishBackgroundTasks();
      this.#ended = outcome;
      return outcome;
    } catch (error) {
      this.#ended = { type: "failed", text: "", error: { code: "internal", message: String(error), retryable: false } };
      throw error;
    } finally {
      this.#wake();
    }
  }

  #follow(session: InteractiveSession): void {
    const read = async (): Promise<void> => {
      for await (const event of session.events()) {
        this.#options.onEvent?.(event);
        if (event.taskId !== undefined) continue;
        if (event.type === "message.ended") {
          this.#openCalls = event.message.content.filter(({ type }) => type === "tool-call").length;
          this.#bump();
        }
        if (event.type === "tool.ended" && --this.#openCalls === 0) this.#bump();
        if (event.type === "permission.requested" && this.#options.asks) {
          this.#question = { type: "asks", requestId: event.requestId, tool: event.tool, reason: event.reason };
          this.#wake();
        }
      }
    };
    read().catch(() => {}); // a reader that falls behind misses steps, not results
  }

  #bump(): void {
    this.#progress++;
    this.#wake();
  }

  #startDeadline(session: InteractiveSession): void {
    const { deadlineAt } = this.#options;
    if (deadlineAt === undefined) return;
    this.#deadline = setTimeout(() => session.abort("deadline"), Math.max(0, deadlineAt - Date.now()));
    this.#deadline.unref();
  }

  async #end(outcome: Outcome, signal: AbortSignal): Promise<Advance> {
    await this.#outcome; // tells of a store that failed
    signal.throwIfAborted();
    if (isUnfinished(outcome)) throw new RunSuspended(this.#options.sessionId);
    return { type: "ended" };
  }
}
