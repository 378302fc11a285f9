import type { HeldSession } from "../../hosting/session-host.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { A2aProblem, type A2aRequest, a2aErrors, decodeA2aRequest, listTasks, toAgentCard } from "./a2a.ts";
import { A2aRun, A2aTasks } from "./a2a-tasks.ts";
import { AgUiRuns } from "./ag-ui-runs.ts";
import { decodeUiRequest, toUiParts, uiStreamHeaders } from "./ai-sdk-ui.ts";
import { ChatChunks, decodeChatRequest, toCompletion } from "./openai-chat.ts";
import { decodeResponsesRequest, ResponseEvents, responseId } from "./openai-responses.ts";
import { parseBoundedJson, UnwieldyJson } from "../../util/bounded-json.ts";
import { type DialectTurn, runTurn } from "./run-turn.ts";
import { json, problem, stream, streamEvents } from "./sse-response.ts";
import type { Piece } from "./turn-pieces.ts";

/** Where the sessions come from that clients of other front ends talk to. Nobody is asked for permission on these ways: rules decide. */
export interface DialectHost {
  readonly version: string;
  /** Requests need a token, which is told to those who look for the agent. */
  readonly isGuarded?: boolean | undefined;
  /** Whoever asks may answer the questions of the agent, in the formats that can ask. Absent: others answer them, or rules alone decide. */
  readonly answers?:
    | {
        /** They wait for whoever asks, from here on until it is said that they have gone. */
        attend(sessionId: string): () => void;
      }
    | undefined;
  /** The session of this id, open or stored; a new one where there is none, or none is named. */
  open(wish: {
    readonly sessionId?: string | undefined;
    readonly model?: string | undefined;
    /** The session as it was when this turn had ended: a copy where it has gone on since then. Then there must be one of this id. */
    readonly afterTurn?: string | undefined;
  }): Promise<HeldSession>;
}

export type OpenWish = Parameters<DialectHost["open"]>[0];

export type Dialects = {
  /**
   * Answers a request of one of the dialects; undefined where its path is none of theirs. Who may ask is for the caller to check, who may give
   * each request a host of its own.
   */
  fetch(request: Request, host?: DialectHost): Promise<Response | undefined>;
};

type Handler = (host: DialectHost, request: Request, match: RegExpExecArray) => Promise<Response>;

/** A header in which a client names the session to go on with. */
const sessionHeader = "x-session-id";

/** The wire formats of others, over the same sessions. `now` is milliseconds since 1970. */
export function createDialects(usual?: DialectHost, now: () => number = Date.now): Dialects {
  const tasks = new A2aTasks();
  const runs = new AgUiRuns(now);
  const routes: readonly (readonly [string, RegExp, Handler])[] = [
    ["POST", /^\/v1\/chat\/completions$/, (host, request) => completeChat(host, request, now)],
    ["POST", /^\/v1\/responses$/, (host, request) => respond(host, request, now)],
    ["POST", /^\/v1\/sessions\/([\w-]+)\/chat$/, (host, request, [, id]) => chatUi(host, request, id)],
    // Whoever leaves takes the prompt back, so that there never is a stream to come back to.
    ["GET", /^\/v1\/sessions\/[\w-]+\/chat(?:\/[^/]+)?\/stream$/, async () => new Response(null, { status: 204 })],
    ["POST", /^\/v1\/ag-ui$/, async (host, request) => await runs.answer(host, await readJson(request), request.signal)],
    ["POST", /^\/v1\/a2a$/, (host, request) => callA2a(host, request, { tasks, now })],
    [
      "GET",
      /^\/\.well-known\/agent-card\.json$/,
      async (host, request) => json(toAgentCard({ ...host, url: new URL("/v1/a2a", request.url).href })),
    ],
  ];
  return {
    async fetch(request, host = usual) {
      if (!host) throw new RuntimeError("usage", "There is no host whose sessions could be asked");
      const { pathname } = new URL(request.url);
      for (const [method, path, handle] of routes) {
        const match = request.method === method ? path.exec(pathname) : null;
        if (match) return await handle(host, request, match).catch(problem);
      }
      return undefined;
    },
  };
}

async function completeChat(host: DialectHost, request: Request, now: () => number): Promise<Response> {
  const wanted = decodeChatRequest(await readJson(request));
  const turn = await begin(host, request, { sessionId: request.headers.get(sessionHeader) ?? undefined, ...wanted });
  const head = { id: `chatcmpl-${turn.turnId}`, model: wanted.model, created: Math.floor(now() / 1000) };
  const headers = { [sessionHeader]: turn.sessionId };
  const chunks = new ChatChunks(head, wanted.wantsUsage);
  if (wanted.isStream) return stream(turn, (piece) => chunks.of(piece), { headers, last: "[DONE]" });
  try {
    return json(toCompletion(head, await collect(turn)), { headers });
  } catch (error) {
    return problem(error, { ...headers, ...unrepeated });
  }
}

/** The work of a failed turn is done as far as it went: OpenAI's clients would do it again by themselves. */
const unrepeated = { "x-should-retry": "false" };

async function respond(host: DialectHost, request: Request, now: () => number): Promise<Response> {
  const wanted = decodeResponsesRequest(await readJson(request));
  const turn = await begin(host, request, wanted);
  const id = responseId(turn.sessionId, turn.turnId);
  const events = new ResponseEvents({ id, model: wanted.model, created: Math.floor(now() / 1000) });
  if (wanted.isStream) return stream(turn, (piece) => events.of(piece), { isNamed: true });
  const pieces = await collect(turn);
  const end = pieces.at(-1);
  if (end?.type === "turn-end" && end.outcome.type === "failed")
    return problem(new RuntimeError(end.outcome.error.code, end.outcome.error.message), unrepeated);
  const told = pieces.flatMap((piece) => events.of(piece));
  const last = told.at(-1) as { readonly response: { readonly status: string } } | undefined; // the last event of a turn has it whole
  if (last === undefined || last.response.status === "in_progress")
    throw new RuntimeError("closed", "The session was closed before the turn had ended");
  return json(last.response);
}

async function chatUi(host: DialectHost, request: Request, sessionId: string | undefined): Promise<Response> {
  const { message } = decodeUiRequest(await readJson(request));
  const turn = await runTurn(await host.open({ sessionId }), message, request.signal);
  return stream(turn, toUiParts, { headers: uiStreamHeaders, last: "[DONE]" });
}

type A2aGround = {
  readonly tasks: A2aTasks;
  readonly now: () => number;
  /** The client has left. */
  readonly signal?: AbortSignal;
};

async function callA2a(host: DialectHost, request: Request, ground: A2aGround): Promise<Response> {
  const body = await readJson(request);
  try {
    return await answerA2a(host, decodeA2aRequest(body), { ...ground, signal: request.signal });
  } catch (error) {
    const { code, message } = error instanceof A2aProblem ? { code: error.number, message: error.message } : toA2aError(error);
    return json({ jsonrpc: "2.0", id: Object(body).id ?? null, error: { code, message } });
  }
}

function toA2aError(error: unknown): { readonly code: number; readonly message: string } {
  const { code, message } = toRuntimeError(error);
  const number = { usage: a2aErrors.badRequest, "not-found": a2aErrors.taskNotFound } as const;
  return { code: code === "usage" || code === "not-found" ? number[code] : a2aErrors.internal, message };
}

async function answerA2a(host: DialectHost, wanted: A2aRequest, { tasks, now, signal }: A2aGround): Promise<Response> {
  const envelope = (result: object): object => ({ jsonrpc: "2.0", id: wanted.id, result });
  const watch = (run: A2aRun): Response => {
    const events = run.watch();
    return streamEvents(enclose(events, envelope), { cancel: () => events.end() });
  };
  switch (wanted.method) {
    case "ListTasks":
      return json(envelope(listTasks(tasks.all, wanted)));
    case "GetTask":
      return json(envelope(tasks.get(wanted.taskId).task));
    case "SubscribeToTask": {
      const run = tasks.get(wanted.taskId);
      if (run.isOver) throw new A2aProblem(a2aErrors.unsupported, "The task has ended: GetTask tells how");
      return watch(run);
    }
    case "CancelTask": {
      const run = tasks.get(wanted.taskId);
      if (run.isOver) throw new A2aProblem(a2aErrors.notCancelable, "The task has ended: it cannot be cancelled");
      await run.cancel();
      return json(envelope(run.task));
    }
    default: {
      if (wanted.taskId !== undefined) refuseTask(tasks.get(wanted.taskId));
      // Whoever leaves without having been told of the task could never ask for it again.
      const isKnown = wanted.method === "SendStreamingMessage" || wanted.returnsAtOnce;
      const turn = await runTurn(await host.open({ sessionId: wanted.contextId }), wanted.message, isKnown ? undefined : signal);
      const run = new A2aRun(turn, now);
      tasks.add(run);
      if (wanted.method === "SendStreamingMessage") return watch(run);
      if (!isKnown) await run.over;
      return json(envelope({ task: run.task }));
    }
  }
}

/** A task is one turn, which takes no more messages. */
function refuseTask({ isOver, task }: A2aRun): never {
  const why = isOver ? "The task has ended" : "The task is at work";
  throw new A2aProblem(
    a2aErrors.unsupported,
    `${why}: a message with contextId ${task.contextId} and no taskId begins the next one`,
  );
}

async function* enclose(events: AsyncIterable<object>, envelope: (event: object) => object): AsyncGenerator<object> {
  for await (const event of events) yield envelope(event);
}

type Beginning = OpenWish & {
  toMessage(hasPast: boolean): Parameters<typeof runTurn>[1];
};

async function begin(host: DialectHost, { signal }: Request, { toMessage, ...wish }: Beginning): Promise<DialectTurn> {
  const held = await host.open(wish);
  try {
    return await runTurn(held, toMessage(held.session.getMessages().length > 0), signal);
  } catch (error) {
    held.release();
    throw error;
  }
}

async function collect({ pieces }: DialectTurn): Promise<Piece[]> {
  const all: Piece[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

async function readJson(request: Request): Promise<unknown> {
  const text = await request.text();
  try {
    return parseBoundedJson(text);
  } catch (error) {
    throw new RuntimeError("usage", `The body is ${error instanceof UnwieldyJson ? error.message : "no JSON"}`);
  }
}
