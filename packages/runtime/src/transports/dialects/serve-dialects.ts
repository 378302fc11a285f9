import type { HeldSession } from "../../hosting/session-host.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import { A2aEvents, type A2aRequest, type A2aTask, decodeA2aRequest, listTasks, toAgentCard } from "./a2a.ts";
import { AgUiRuns } from "./ag-ui-runs.ts";
import { decodeUiRequest, toUiParts, uiStreamHeaders } from "./ai-sdk-ui.ts";
import { ChatChunks, decodeChatRequest, toCompletion } from "./openai-chat.ts";
import { decodeResponsesRequest, ResponseEvents, responseId } from "./openai-responses.ts";
import { parseBoundedJson, UnwieldyJson } from "../../util/bounded-json.ts";
import { type DialectTurn, runTurn } from "./run-turn.ts";
import { json, problem, stream } from "./sse-response.ts";
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
  open(wish: { readonly sessionId?: string | undefined; readonly model?: string | undefined }): Promise<HeldSession>;
}

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
/** Tasks that have ended and can still be asked for. */
const rememberedTasks = 1_000;

/** The wire formats of others, over the same sessions. `now` is milliseconds since 1970. */
export function createDialects(usual?: DialectHost, now: () => number = Date.now): Dialects {
  const tasks = new Map<string, { readonly events: A2aEvents; readonly cancel: () => void }>();
  const runs = new AgUiRuns(now);
  const routes: readonly (readonly [string, RegExp, Handler])[] = [
    ["POST", /^\/v1\/chat\/completions$/, (host, request) => completeChat(host, request, now)],
    ["POST", /^\/v1\/responses$/, (host, request) => respond(host, request, now)],
    ["POST", /^\/v1\/sessions\/([\w-]+)\/chat$/, (host, request, [, id]) => chatUi(host, request, id)],
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
    // Its work is done as far as it went: OpenAI's clients would do it again by themselves.
    return problem(error, { ...headers, "x-should-retry": "false" });
  }
}

async function respond(host: DialectHost, request: Request, now: () => number): Promise<Response> {
  const wanted = decodeResponsesRequest(await readJson(request));
  const turn = await begin(host, request, wanted);
  const id = responseId(turn.sessionId, turn.turnId);
  const events = new ResponseEvents({ id, model: wanted.model, created: Math.floor(now() / 1000) });
  if (wanted.isStream) return stream(turn, (piece) => events.of(piece), { isNamed: true });
  const told = (await collect(turn)).flatMap((piece) => events.of(piece));
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
  readonly tasks: Map<string, { readonly events: A2aEvents; readonly cancel: () => void }>;
  readonly now: () => number;
  /** The client has left. */
  readonly signal?: AbortSignal;
};

async function callA2a(host: DialectHost, request: Request, ground: A2aGround): Promise<Response> {
  const body = await readJson(request);
  try {
    return await answerA2a(host, decodeA2aRequest(body), { ...ground, signal: request.signal });
  } catch (error) {
    const { code, message } = toRuntimeError(error);
    const number = code === "not-found" ? -32001 : code === "usage" ? -32602 : -32603;
    return json({ jsonrpc: "2.0", id: Object(body).id ?? null, error: { code: number, message } });
  }
}

async function answerA2a(host: DialectHost, wanted: A2aRequest, { tasks, now, signal }: A2aGround): Promise<Response> {
  const envelope = (result: object): object => ({ jsonrpc: "2.0", id: wanted.id, result });
  if (wanted.method === "unknown")
    return json({ jsonrpc: "2.0", id: wanted.id, error: { code: -32601, message: "There is no such method" } });
  if (wanted.method === "ListTasks")
    return json(
      envelope(
        listTasks(
          [...tasks.values()].map(({ events }) => events.task),
          wanted,
        ),
      ),
    );
  if ("taskId" in wanted) {
    const known = tasks.get(wanted.taskId);
    if (!known) throw new RuntimeError("not-found", `There is no task ${wanted.taskId}`);
    if (wanted.method === "GetTask") return json(envelope(known.events.task));
    if (known.events.isOver)
      return json({
        jsonrpc: "2.0",
        id: wanted.id,
        error: { code: -32002, message: "The task has ended: it cannot be cancelled" },
      });
    known.cancel();
    const task: A2aTask = {
      ...known.events.task,
      status: { state: "TASK_STATE_CANCELED", timestamp: new Date(now()).toISOString() },
    };
    return json(envelope(task));
  }
  const turn = await runTurn(await host.open({ sessionId: wanted.contextId }), wanted.message, signal);
  const events = new A2aEvents({ taskId: turn.turnId, contextId: turn.sessionId, now });
  tasks.set(turn.turnId, { events, cancel: turn.cancel });
  const [oldest] = tasks.keys();
  if (tasks.size > rememberedTasks && oldest !== undefined) tasks.delete(oldest);
  if (wanted.method === "SendStreamingMessage") return stream(turn, (piece) => events.of(piece).map(envelope), {});
  for (const piece of await collect(turn)) events.of(piece);
  return json(envelope({ task: events.task }));
}

type Beginning = {
  readonly sessionId?: string | undefined;
  readonly model?: string | undefined;
  toMessage(hasPast: boolean): Parameters<typeof runTurn>[1];
};

async function begin(host: DialectHost, { signal }: Request, { sessionId, model, toMessage }: Beginning): Promise<DialectTurn> {
  const held = await host.open({ sessionId, model });
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
