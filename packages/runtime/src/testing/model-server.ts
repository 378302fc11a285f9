import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { ScriptedReply } from "../model/scripted.ts";
import { sleep } from "../util/sleep.ts";
import { wireStatus } from "./anthropic-stream.ts";
import type { StreamWire } from "./stream-wire.ts";
import { streamWires, wireOf } from "./stream-wires.ts";

/** One answer over the wire, and what goes wrong with it. Byte counts are bytes of the body. */
export type ServerReply = ScriptedReply & {
  /** Anything but 200 answers with `body`, or with an error in the wire's own form. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is instead of a stream; an object is sent as JSON. */
  readonly body?: string | object;
  /** Sent as it is in place of the events: raw server-sent events, or garbage. */
  readonly raw?: string | Uint8Array;
  /** Between the headers and the first byte; `delayMs` is before the headers. */
  readonly firstByteDelayMs?: number;
  /** Writes pieces of this size, which may split a character. */
  readonly chunkBytes?: number;
  /** Between two pieces; without `chunkBytes` a piece is one event. */
  readonly chunkDelayMs?: number;
  /** Hangs up before the headers. */
  readonly dropBeforeHeaders?: boolean;
  /** Hangs up in the middle of the body. */
  readonly dropAfterBytes?: number;
  /** Goes silent in the middle of the body, for ever. */
  readonly stallAfterBytes?: number;
};

export type RecordedRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, or the text when it is none. */
  readonly body: unknown;
};

export type ServerStep = ServerReply | ((request: RecordedRequest, index: number) => ServerReply | Promise<ServerReply>);

export type ModelServerOptions = {
  /** One per request, in order; or a function that answers every request. */
  readonly replies: readonly ServerStep[] | ((request: RecordedRequest, index: number) => ServerReply | Promise<ServerReply>);
  /** Whether requests are kept to be looked at (default); a server that answers for hours would hold all of them. */
  readonly keepsRequests?: boolean;
};

export interface ModelServer {
  /** Without a path: what goes into ANTHROPIC_BASE_URL, and before the `/v1` of other wires. */
  readonly url: string;
  readonly port: number;
  /** Every request so far, oldest first, where they are kept. */
  readonly requests: readonly RecordedRequest[];
  /** How many connections clients have opened so far. */
  readonly connections: number;
  /** Ends at once, with everything that hangs, stalls or waits. */
  close(): Promise<void>;
}

/** A model that follows a script, over real sockets on 127.0.0.1; the path of a request says which wire format it speaks. */
export async function startModelServer({ replies, keepsRequests = true }: ModelServerOptions): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let count = 0;
  const closing = new AbortController();
  process.getBuiltinModule("node:events").setMaxListeners(0, closing.signal); // as many as there are requests
  for (const reply of typeof replies === "function" ? [] : replies) {
    if (typeof reply !== "function") for (const wire of streamWires) wire.prepare?.(reply);
  }
  let connections = 0;

  const server = process.getBuiltinModule("node:http").createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      if (closing.signal.aborted || response.destroyed) return;
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await record(incoming);
    const index = count++;
    if (keepsRequests) requests.push(request);
    const wire = wireOf(request.url);
    const reply = (await pick(replies, request, index)) ?? beyondScript(wire, replies.length, index);
    await send(response, { reply, index, request, wire, signal: closing.signal });
  };
  server.on("connection", () => {
    connections++;
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    close: () => {
      closing.abort(new Error("The model server was closed"));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return { method: incoming.method ?? "", url: incoming.url ?? "", headers: incoming.headers, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function pick(
  replies: ModelServerOptions["replies"],
  request: RecordedRequest,
  index: number,
): Promise<ServerReply | undefined> {
  if (typeof replies === "function") return replies(request, index);
  const step = replies[index];
  return typeof step === "function" ? step(request, index) : step;
}

/** A status that no client retries: the test fails at once and says why. */
function beyondScript(wire: StreamWire, total: number, index: number): ServerReply {
  return { status: 400, body: wire.errorBody(400, `The script has ${total} replies, but request ${index + 1} came`) };
}

type Sending = { reply: ServerReply; index: number; request: RecordedRequest; wire: StreamWire; signal: AbortSignal };

async function send(response: ServerResponse, sending: Sending): Promise<void> {
  const { reply, signal } = sending;
  if (reply.delayMs) await sleep(reply.delayMs, signal);
  if (reply.dropBeforeHeaders) return void response.socket?.destroy();
  const { status, type, body } = toAnswer(sending);
  response.writeHead(status, { "content-type": type, "request-id": `req_${sending.index + 1}`, ...reply.headers });
  response.flushHeaders();
  if (reply.firstByteDelayMs) await sleep(reply.firstByteDelayMs, signal);
  const end = Math.min(reply.dropAfterBytes ?? Number.POSITIVE_INFINITY, reply.stallAfterBytes ?? Number.POSITIVE_INFINITY);
  await write(response, body.subarray(0, end), sending);
  if (reply.dropAfterBytes !== undefined) return void response.socket?.destroy();
  if (reply.stallAfterBytes !== undefined || (reply.hang && status === 200)) return; // closing the server ends it
  response.end();
}

function toAnswer({ reply, index, request, wire }: Sending): { status: number; type: string; body: Uint8Array } {
  const json = "application/json";
  const status = reply.status ?? (failsAtOnce(reply) && reply.fail ? wireStatus(reply.fail.code) : 200);
  if (reply.raw !== undefined) return { status, type: "text/event-stream", body: Buffer.from(reply.raw) };
  if (typeof reply.body === "string") return { status, type: "text/plain", body: Buffer.from(reply.body) };
  if (reply.body !== undefined) return { status, type: json, body: Buffer.from(JSON.stringify(reply.body)) };
  if (status === 200) {
    return {
      status,
      type: "text/event-stream; charset=utf-8",
      body: Buffer.from(wire.encode(reply, { index, model: modelOf(request), request })),
    };
  }
  const error = wire.errorBody(status, reply.fail?.message ?? `Scripted status ${status}`, reply.fail?.code);
  return { status, type: json, body: Buffer.from(JSON.stringify(error)) };
}

/** A failure before the first word is an HTTP status; after it, an event in the stream. */
function failsAtOnce(reply: ServerReply): boolean {
  return reply.fail !== undefined && !reply.text && !reply.reasoning && !reply.calls?.length;
}

/** Most wires name it in the body, Gemini's in the path. */
function modelOf({ url, body }: RecordedRequest): string {
  if (typeof body === "object" && body !== null && "model" in body) return String(body.model);
  return /\/models\/([^/:?]+)/.exec(url)?.[1] ?? "unknown";
}

/** Resolves when the operating system has the bytes, so that hanging up afterwards loses none of them. */
async function write(response: ServerResponse, body: Uint8Array, { reply, signal }: Sending): Promise<void> {
  for (const chunk of toChunks(body, reply)) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
    if (reply.chunkDelayMs) await sleep(reply.chunkDelayMs, signal);
  }
}

function* toChunks(body: Uint8Array, { chunkBytes, chunkDelayMs }: ServerReply): Generator<Uint8Array> {
  if (body.length === 0) return;
  if (chunkBytes === undefined && chunkDelayMs === undefined) return yield body;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  for (let start = 0; start < bytes.length; ) {
    const eventEnd = bytes.indexOf("\n\n", start);
    const end = chunkBytes !== undefined ? start + chunkBytes : eventEnd === -1 ? bytes.length : eventEnd + 2;
    yield bytes.subarray(start, end);
    start = end;
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address) resolve(address.port);
      else reject(new Error("The model server has no port"));
    });
  });
}
