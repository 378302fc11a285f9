import type { UserMessage } from "../../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../../protocol/errors.ts";
import type { AgentEvent, PromptMode } from "../../../protocol/events.ts";
import type { InteractiveSession } from "../../../session/interactive-session.ts";
import type { AcceptedPrompt } from "../../../session/prompts/session-turns.ts";
import { keyedPrompt } from "../key-ledger.ts";
import type { Answer, Exchange, Route } from "../route.ts";
import * as schemas from "../schemas.ts";
import { ToldEvent } from "../session-channel.ts";
import { filterOf, wantedTypes } from "./event-filter.ts";

type NewMessage = {
  readonly text?: string;
  readonly content?: UserMessage["content"];
  readonly mode?: PromptMode;
  readonly wait?: boolean;
};

/** Prompts: hand one in, steer, cancel. */
export const promptRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/sessions/{id}/messages",
    operationId: "sendMessage",
    summary: "A prompt. Answers when its turn has ended, with events (Accept: text/event-stream), or at once (wait: false)",
    scope: "drive",
    body: schemas.newMessage,
    query: [{ ...wantedTypes, description: `${wantedTypes.description} result and how the stream ends are always told.` }],
    keyed: ({ params, body }) => keyedPrompt(params["id"] ?? "", contentOf(body as NewMessage)),
    answers: {
      200: [
        { description: "How its turn went, or its events up to that", schema: schemas.promptResult },
        { description: "Events, at the end one of the type result", mediaType: "text/event-stream" },
      ],
      202: { description: "It is on record and will begin once", schema: schemas.acceptedPrompt },
    },
    async handle(exchange) {
      const { mode, wait = true } = exchange.body as NewMessage; // it fits the schema
      const message: UserMessage = { role: "user", content: contentOf(exchange.body as NewMessage) };
      const wantsEvents = /\btext\/event-stream\b/.test(exchange.request.headers.accept ?? "");
      if (wantsEvents) return await answerWithEvents(exchange, message, mode);
      const { prompt, session } = await accept(exchange, message, mode);
      if (!wait) return { status: 202, body: acceptedView(prompt, session) };
      const outcome = session.shown(await prompt.outcome);
      return { status: 200, body: { ...acceptedView(prompt, session), outcome } };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/steer",
    operationId: "steer",
    summary: "Words for the running turn, before the model is asked again; a prompt of its own where none runs",
    scope: "drive",
    body: schemas.steering,
    keyed: ({ params, body }) => keyedPrompt(params["id"] ?? "", contentOf(body as NewMessage)),
    answers: { 202: { description: "It is on record", schema: schemas.acceptedPrompt } },
    async handle(exchange) {
      const content = contentOf(exchange.body as NewMessage); // it fits the schema
      const { prompt, session } = await accept(exchange, { role: "user", content }, "steer");
      return { status: 202, body: acceptedView(prompt, session) };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/cancel",
    operationId: "cancel",
    summary: "Ends the running turn",
    scope: "drive",
    body: schemas.cancelling,
    isBodyOptional: true,
    answers: { 202: { description: "turn.ended tells when it has ended", schema: schemas.nothing } },
    async handle({ sessions, client, params: { id = "" }, body }) {
      const { waiting = "drop" } = (body ?? {}) as { waiting?: "keep" | "drop" }; // it fits the schema
      const served = await sessions.look(client, id);
      if (waiting === "drop") served?.session.abort();
      else served?.session.interrupt();
      return { status: 202, body: {} };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/resume",
    operationId: "resumePrompts",
    summary: "Lets prompts go on that were accepted before the server was restarted",
    scope: "drive",
    answers: { 202: { description: "They go on in their order", schema: schemas.nothing } },
    async handle({ sessions, client, params: { id = "" } }) {
      await sessions.with(client, id, (session) => session.goOn());
      return { status: 202, body: {} };
    },
  },
  {
    method: "DELETE",
    path: "/v1/sessions/{id}/prompts/{promptId}",
    operationId: "cancelPrompt",
    summary: "Takes back a prompt that waits",
    scope: "drive",
    answers: { 204: { description: "It never begins" } },
    async handle({ sessions, client, params: { id = "", promptId = "" } }) {
      const isCancelled = await sessions.with(client, id, (session) => session.cancelPrompt(promptId));
      if (!isCancelled) throw new RuntimeError("not-found", `No prompt ${promptId} waits`);
      return { status: 204 };
    },
  },
];

function contentOf({ text = "", content = [{ type: "text", text }] }: NewMessage): UserMessage["content"] {
  return content;
}

type Accepted = { readonly prompt: AcceptedPrompt; readonly session: InteractiveSession };

async function accept(
  { sessions, client, params: { id = "" }, key }: Exchange,
  message: UserMessage,
  mode: PromptMode | undefined,
  begun?: (session: InteractiveSession) => void,
): Promise<Accepted> {
  return await sessions.accept(client, id, {
    message,
    mode,
    ...(key !== undefined && { key: `${client.name}:${key}` }), // nobody else's key is the same
    ...(begun && { begun }),
  });
}

function acceptedView({ id: promptId, isRepeated }: AcceptedPrompt, { id: sessionId, storedSeq }: InteractiveSession): object {
  return { promptId, sessionId, isRepeated, storedSeq };
}

/** From before the prompt is on record to the end of its turn. Whoever is cut off goes on with `GET …/events`. */
async function answerWithEvents(
  exchange: Exchange,
  message: UserMessage,
  mode: PromptMode | undefined,
): Promise<Answer | undefined> {
  const isWanted = filterOf(exchange.query); // what is wrong with it is found before anything is begun
  let events: AsyncIterator<AgentEvent> | undefined;
  const { prompt, session } = await accept(exchange, message, mode, (opened) => {
    events = opened.events()[Symbol.asyncIterator]();
  });
  const stream = exchange.openStream();
  // Who is not told of questions is not somebody they wait for.
  const hearsQuestions = isWanted?.({ type: "permission.requested" }) !== false;
  const goAway = hearsQuestions ? exchange.sessions.attend(exchange.client, session.id) : () => {};
  stream.left.addEventListener("abort", () => void events?.return?.(), { once: true });
  stream.say({ type: "accepted", ...acceptedView(prompt, session) });
  try {
    if (!prompt.isOver && events)
      await tellUntilEnded(prompt.id, events, (told) => (isWanted?.(told.event) === false ? undefined : stream.tell(told)));
    const outcome = session.shown(await prompt.outcome);
    stream.say({ type: "result", ...acceptedView(prompt, session), outcome });
    stream.end();
  } catch (error) {
    stream.end(toRuntimeError(error));
  } finally {
    goAway();
    await events?.return?.();
  }
  return undefined;
}

/** A prompt ends with its own turn, with the turn that it joined, or before it began. */
async function tellUntilEnded(
  promptId: string,
  events: AsyncIterator<AgentEvent>,
  tell: (told: ToldEvent) => Promise<void> | undefined,
): Promise<void> {
  let turnId: string | undefined = promptId;
  for (;;) {
    const { done, value: event } = await events.next();
    if (done) return;
    await tell(new ToldEvent(event));
    if (event.type === "input.added" && event.promptId === promptId) turnId = event.turnId;
    if (event.type === "prompt.cancelled" && event.promptId === promptId) return;
    if (event.type === "turn.ended" && event.turnId === turnId) return;
  }
}
