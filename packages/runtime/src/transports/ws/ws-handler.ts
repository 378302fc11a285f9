import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { defined } from "../../util/defined.ts";
import { answerRequest } from "./answer-request.ts";
import { joinAnswerers } from "./answerers.ts";
import { endOfTurnBefore, EventMessages, toErrorMessage } from "./event-messages.ts";
import { type JobGroups, jobGroupsOf } from "./job-groups.ts";
import type { ClientMessage, ClientMessageType, RequestId, ServerMessage, ServerReply } from "./messages.ts";
import { parseClientMessage } from "./parse-message.ts";

export type WsHandlerOptions = {
  readonly session: InteractiveSession<unknown>;
  /** Gets each message in order. May return a promise: the next event is sent when it resolves, and a client that stays behind is let go. */
  readonly send: (message: ServerMessage) => void | Promise<void>;
  /** The last `seq` that the client saw: what is stored after it comes first. Without it, what happens from now on. */
  readonly after?: number | undefined;
  /**
   * May this client change something, and answer questions? `false`: it may only look. When the last client that may answer leaves, open questions
   * are answered with no, unless `questions` is `keep`. Both when absent: it may, and they are.
   */
  readonly mayDrive?: boolean | undefined;
  readonly mayAnswer?: boolean | undefined;
  /** `keep`: somebody else, who is none of these connections, answers the questions that are left. */
  readonly questions?: "deny" | "keep" | undefined;
  /** Results carry the history of the session, and not only of their turn. */
  readonly wholeHistory?: boolean | undefined;
  /** Groups of background tasks that the program keeps itself; those of the session when absent. */
  readonly groups?: JobGroups | undefined;
  /** Asked before each prompt and command: throws where there may be no more, and answers what to call when it is over. */
  readonly admit?: (() => () => void) | undefined;
  /** Longest message of a client, in characters; 16 Mi when absent. */
  readonly maxMessageLength?: number | undefined;
  /** How many events may wait for this client; 4,096 when absent. */
  readonly capacity?: number | undefined;
  /** The connection is of no use any more: the session has ended, the client stayed behind, or `send` has failed. */
  readonly onEnd?: ((reason: RuntimeError | undefined) => void) | undefined;
};

export type WsHandler = {
  /** One message of the client. Never throws. */
  onMessage(data: string): void;
  /** The connection is gone. Nothing is sent any more, and nothing is left behind. */
  cleanup(): void;
};

const defaultLength = 16 << 20;
const defaultCapacity = 4_096;
/** Requests of one client that may be at work at once; more are refused. */
const maxOpenRequests = 256;

/** Requests that change nothing. */
const looking: ReadonlySet<ClientMessageType> = new Set<ClientMessageType>([
  "get-messages",
  "get-context",
  "get-executing",
  "get-pending",
  "get-background-tasks",
  "get-background-task",
  "read-background-task-log",
  "get-background-job-groups",
  "get-background-job-group",
  "wait-background-job-group",
  "get-commands",
]);
const answering: ReadonlySet<ClientMessageType> = new Set<ClientMessageType>(["permission-response", "ask-response"]);

/** What ends or frees something is never too much. */
const urgent: ReadonlySet<ClientMessageType> = new Set<ClientMessageType>([
  ...answering,
  "abort",
  "cancel-queue",
  "cancel-prompt",
]);

/** Serves one session to one connection, whatever WebSocket it is: bytes are the caller's. Listens from this call on. */
export function createWsHandler(options: WsHandlerOptions): WsHandler {
  const connection = new WsConnection(options);
  return { onMessage: (data) => connection.hear(data), cleanup: () => connection.end() };
}

class WsConnection {
  readonly #options: WsHandlerOptions;
  readonly #over = new AbortController();
  readonly #messages: EventMessages;
  readonly #leaveAnswerers: (() => void) | undefined;
  readonly #groups: JobGroups | undefined;
  readonly #leaveGroups: (() => void) | undefined;
  /** Questions of commands that this client was asked. */
  readonly #asked = new Set<string>();
  /** What the client saw before it came back. */
  readonly #seen: number;
  #openRequests = 0;

  constructor(options: WsHandlerOptions) {
    this.#options = options;
    const { session, mayAnswer = true, questions = "deny", after } = options;
    this.#messages = new EventMessages({
      state: session.getContextState(),
      runningTools: after === undefined ? session.getActiveTools() : [], // else they are seen to begin
      history: () => session.getFullHistory(),
      wholeHistory: options.wholeHistory ?? false,
      openPermission: (event) => (mayAnswer ? session.openPermission(event) : undefined),
    });
    this.#leaveAnswerers = mayAnswer && questions === "deny" ? joinAnswerers(session) : undefined;
    this.#groups = jobGroupsOf(session, options.groups);
    this.#leaveGroups = this.#groups?.subscribe((event) => void this.#send({ type: "background_job_group_event", event }));
    const isForeign = after !== undefined && after > session.lastSeq && session.lastSeq > 0;
    this.#seen = after === undefined || isForeign ? 0 : after;
    const events = session.events({
      after: after === undefined || isForeign ? undefined : endOfTurnBefore(session.getFullHistory(), after),
      capacity: options.capacity ?? defaultCapacity,
      signal: this.#over.signal,
    });
    if (isForeign) this.#resync();
    if (after === undefined || isForeign) this.#askOpenQuestions();
    void this.#tell(events);
  }

  hear(data: string): void {
    if (this.#over.signal.aborted) return;
    const { maxMessageLength = defaultLength } = this.#options;
    if (data.length > maxMessageLength)
      return this.#refuse(new RuntimeError("usage", `A message has at most ${maxMessageLength} characters`), undefined);
    const parsed = parseClientMessage(data);
    if (parsed.type === "refused") return this.#refuse(parsed.error, parsed.id);
    const refusal = this.#refusalOf(parsed.message);
    if (refusal) return this.#refuse(refusal, parsed.message.id);
    void this.#answer(parsed.message);
  }

  end(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    this.#leaveAnswerers?.();
    this.#leaveGroups?.();
    if (this.#leaveAnswerers) for (const id of this.#asked) this.#options.session.answerInteraction(id);
  }

  #refusalOf({ type }: ClientMessage): RuntimeError | undefined {
    const { mayDrive = true, mayAnswer = true } = this.#options;
    if (answering.has(type) ? !mayAnswer : !mayDrive && !looking.has(type))
      return new RuntimeError("usage", `This connection may only look: ${type} is not for it`);
    if (this.#openRequests >= maxOpenRequests && !urgent.has(type))
      return new RuntimeError("busy", `${maxOpenRequests} requests of this connection are at work already`, { retryable: true });
    return undefined;
  }

  async #answer(message: ClientMessage): Promise<void> {
    const { id } = message;
    this.#openRequests++;
    try {
      const { session, admit } = this.#options;
      const reply = await answerRequest({ session, groups: this.#groups, admit }, message);
      if (reply) this.#reply(reply, id);
      else if (id !== undefined) this.#reply({ type: "ok" }, id);
    } catch (error) {
      this.#refuse(toRuntimeError(error), id);
    } finally {
      this.#openRequests--;
    }
  }

  async #tell(events: AsyncIterable<AgentEvent>): Promise<void> {
    try {
      for await (const event of events) {
        if (this.#over.signal.aborted) return;
        if (event.type === "interaction.requested") this.#asked.add(event.interactionId);
        if (event.type === "interaction.resolved") this.#asked.delete(event.interactionId);
        const messages = this.#messages.of(event);
        if (event.seq > this.#seen) for (const message of messages) await this.#send(message);
      }
      this.#finish(undefined);
    } catch (error) {
      if (this.#over.signal.aborted) return;
      void this.#send(toErrorMessage(error));
      this.#finish(toRuntimeError(error));
    }
  }

  /** What was asked before this client came, and waits. */
  #askOpenQuestions(): void {
    const { session, mayAnswer = true } = this.#options;
    if (!mayAnswer) return;
    for (const { by: _, ...question } of session.openPermissions()) void this.#send({ type: "permission_request", ...question });
  }

  #resync(): void {
    const { session } = this.#options;
    void this.#send({
      type: "resync",
      seq: session.lastSeq,
      messages: session.getMessages(),
      state: session.getContextState(),
      executing: session.isExecuting(),
      pending: session.getPendingPrompt(),
      tasks: session.listBackgroundTasks(),
    });
  }

  #refuse({ message, code }: RuntimeError, id: RequestId | undefined): void {
    this.#reply({ type: "protocol_error", message, code }, id);
  }

  #reply(reply: ServerReply, id: RequestId | undefined): void {
    void this.#send({ ...reply, ...defined({ id }) });
  }

  /** A client that cannot be sent to is gone; nobody else notices. */
  async #send(message: ServerMessage): Promise<void> {
    if (this.#over.signal.aborted) return;
    try {
      await this.#options.send(message);
    } catch (error) {
      this.#finish(toRuntimeError(error));
    }
  }

  #finish(reason: RuntimeError | undefined): void {
    if (this.#over.signal.aborted) return;
    this.end();
    this.#options.onEnd?.(reason);
  }
}
