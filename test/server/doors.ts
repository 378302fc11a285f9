import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Ground, Json } from "./ground.ts";
import { Socket } from "./socket.ts";

export type Wish = {
  readonly token: string;
  /** A new one where none is named. */
  readonly session?: string;
  readonly origin?: string;
  /** The client hangs up. */
  readonly signal?: AbortSignal;
};

/** One way to the agents of the server, as a client takes it. */
export interface Door {
  readonly name: string;
  /** What becomes of a prompt whose client hangs up. */
  readonly hungUp: "ends" | "goes on";
  /** A prompt to its answer; rejects with `Refused`. */
  say(ground: Ground, text: string, wish: Wish): Promise<{ readonly text: string; readonly session: string }>;
}

/** The server has said no. */
export class Refused extends Error {
  /** The status, or the code where there is none. */
  readonly why: string;

  constructor(why: string | number, words: string) {
    super(`${why}: ${words}`);
    this.why = String(why);
  }
}

type Asked = Wish & {
  readonly ground: Ground;
  readonly path: string;
  readonly body: object;
  readonly headers?: Record<string, string>;
};

async function post({ ground, path, body, token, origin, signal, headers }: Asked): Promise<Response> {
  const response = await fetch(`${ground.url}${path}`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(origin !== undefined && { origin }),
      ...headers,
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  if (!response.ok) throw new Refused(response.status, await response.text());
  return response;
}

/** The data of server-sent events. */
async function events(response: Response): Promise<Json[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data = ""]) => JSON.parse(data));
}

async function begin(ground: Ground, wish: Wish): Promise<string> {
  if (wish.session !== undefined) return wish.session;
  return ((await (await post({ ...wish, ground, path: "/v1/sessions", body: {} })).json()) as { id: string }).id;
}

const http: Door = {
  name: "http",
  hungUp: "goes on",
  async say(ground, text, wish) {
    const session = await begin(ground, wish);
    const response = await post({ ...wish, ground, path: `/v1/sessions/${session}/messages`, body: { text } });
    return { text: ((await response.json()) as Json).outcome.text, session };
  },
};

const ws: Door = {
  name: "ws",
  hungUp: "goes on",
  async say(ground, text, wish) {
    const { token, origin, signal } = wish;
    const session = await begin(ground, { token, ...(wish.session !== undefined && { session: wish.session }) });
    const socket = new Socket(ground, { token, ...(origin !== undefined && { headers: { origin } }) });
    const refused = new Promise<never>((_, reject) =>
      socket.socket.on("unexpected-response", (__, response) => reject(new Refused(response.statusCode ?? 0, "no upgrade"))),
    );
    signal?.addEventListener("abort", () => socket.socket.terminate());
    try {
      await Promise.race([socket.untilType("hello"), refused]);
      const check = (told: Json): void => {
        if (told.type === "protocol_error") throw new Refused(told.code, told.message);
      };
      check(await socket.ask({ type: "subscribe", sessionId: session }, "subscribed"));
      check(await socket.ask({ type: "submit", prompt: text }, "said"));
      const { result } = await socket.until(({ type }) => type === "complete" || type === "interrupted");
      return { text: result.response, session };
    } finally {
      socket.socket.close();
    }
  },
};

const mcp: Door = {
  name: "mcp",
  hungUp: "ends",
  async say(ground, text, { token, session, origin, signal }) {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const headers = { authorization: `Bearer ${token}`, ...(origin !== undefined && { origin }) };
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(`${ground.url}/mcp`), { requestInit: { headers } }));
      const call =
        session === undefined
          ? { name: "run", arguments: { prompt: text } }
          : { name: "reply", arguments: { prompt: text, sessionId: session } };
      const { isError, structuredContent } = await client.callTool(call, signal && { signal });
      const told = structuredContent as Json;
      if (isError) throw new Refused(told.error?.code ?? told.state, told.error?.message ?? told.text);
      return { text: told.text, session: told.sessionId };
    } catch (error) {
      const { status } = Object((error as Json).data ?? error);
      throw error instanceof Refused || typeof status !== "number" ? error : new Refused(status, String(error));
    } finally {
      await client.close();
    }
  },
};

const openai: Door = {
  name: "openai",
  hungUp: "ends",
  async say(ground, text, wish) {
    const body = { model: "default", messages: [{ role: "user", content: text }] };
    const headers = wish.session === undefined ? {} : { "x-session-id": wish.session };
    const response = await post({ ...wish, ground, path: "/v1/chat/completions", body, headers });
    const { choices } = (await response.json()) as Json;
    return { text: choices[0].message.content, session: response.headers.get("x-session-id") ?? "" };
  },
};

const aiSdk: Door = {
  name: "ai-sdk",
  hungUp: "ends",
  async say(ground, text, wish) {
    const { session = randomUUID() } = wish;
    const body = { id: session, messages: [{ id: "m", role: "user", parts: [{ type: "text", text }] }] };
    const parts = await events(await post({ ...wish, ground, path: `/v1/sessions/${session}/chat`, body }));
    return { text: parts.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : [])).join(""), session };
  },
};

const agUi: Door = {
  name: "ag-ui",
  hungUp: "ends",
  async say(ground, text, wish) {
    const { session = randomUUID() } = wish;
    const body = { threadId: session, runId: "r", messages: [{ id: "m", role: "user", content: text }] };
    const told = await events(await post({ ...wish, ground, path: "/v1/ag-ui", body }));
    return { text: told.flatMap(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? [delta] : [])).join(""), session };
  },
};

const a2a: Door = {
  name: "a2a",
  hungUp: "ends",
  async say(ground, text, wish) {
    const message = { role: "ROLE_USER", messageId: "m", contextId: wish.session, parts: [{ text }] };
    const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
    const { result, error } = (await (await post({ ...wish, ground, path: "/v1/a2a", body })).json()) as Json;
    if (error) throw new Refused(error.code, error.message);
    return { text: result.task.artifacts[0]?.parts[0].text ?? "", session: result.task.contextId };
  },
};

export const doors: readonly Door[] = [http, ws, mcp, openai, aiSdk, agUi, a2a];
