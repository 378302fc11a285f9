import { type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";

export const readerKinds = ["steady", "socket", "steady", "slow", "vanishing"] as const;
export type ReaderKind = (typeof readerKinds)[number];

export interface Reader {
  readonly kind: ReaderKind;
  /** How often it had to come back. */
  readonly returns: number;
  /** The numbers of the stored events it was told, once that of `seq` is among them. */
  until(seq: number): Promise<readonly number[]>;
  leave(): void;
}

export type ReaderOptions = {
  readonly url: string;
  readonly token: string;
  readonly id: string;
  readonly random: (below: number) => number;
};

/** Longer than any event takes; a reader that has not come to the end by then never will. */
const patienceMs = 60_000;

/** Somebody who watches a session from its first event on, and comes back with the position it has whenever it was cut off. */
export function openReader(kind: ReaderKind, options: ReaderOptions): Reader {
  const told: number[] = [];
  const state = { returns: 0, isOver: false, changed: (): void => {}, end: (): void => {} };
  const hear = (seq: number): void => {
    told.push(seq);
    state.changed();
  };
  const connect = kind === "socket" ? overSocket : overEvents;
  const follow = async (): Promise<void> => {
    while (!state.isOver) {
      await connect(kind, { ...options, after: told.at(-1) ?? 0, hear, onOpen: (end) => (state.end = end) });
      if (state.isOver) return;
      state.returns++;
      await pause(options.random(50));
    }
  };
  void follow().catch(() => {}); // it is missed by `until`
  return {
    kind,
    get returns() {
      return state.returns;
    },
    async until(seq) {
      const late = AbortSignal.timeout(patienceMs);
      late.addEventListener("abort", () => state.changed(), { once: true });
      while ((told.at(-1) ?? 0) < seq && !late.aborted)
        await new Promise<void>((resolve) => {
          state.changed = resolve;
        });
      return told;
    },
    leave() {
      state.isOver = true;
      state.end();
    },
  };
}

type Connection = ReaderOptions & {
  readonly after: number;
  readonly hear: (seq: number) => void;
  readonly onOpen: (end: () => void) => void;
};

/** Resolves when the connection has ended, by whomever. */
async function overEvents(kind: ReaderKind, { url, token, id, after, hear, onOpen, random }: Connection): Promise<void> {
  const response = await new Promise<IncomingMessage | undefined>((resolve) => {
    const headers = { authorization: `Bearer ${token}`, "last-event-id": String(after) };
    const asking = request(`${url}/v1/sessions/${id}/events`, { agent: false, headers });
    onOpen(() => asking.destroy());
    asking.on("response", resolve).on("error", () => resolve(undefined));
    asking.end();
  });
  if (!response) return;
  const vanishing = kind === "vanishing" ? setTimeout(() => response.destroy(), 200 + random(2_000)) : undefined;
  let rest = "";
  response.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("id: ")) hear(Number(line.slice(4)));
    if (kind !== "slow") return;
    response.pause();
    setTimeout(() => response.resume(), random(300));
  });
  await new Promise<void>((resolve) => response.on("error", () => {}).on("close", resolve));
  clearTimeout(vanishing);
}

async function overSocket(_: ReaderKind, { url, token, id, after, hear, onOpen }: Connection): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/ws`, { headers: { authorization: `Bearer ${token}` } });
  onOpen(() => socket.terminate());
  socket.on("error", () => {}).on("open", () => socket.send(JSON.stringify({ type: "subscribe", sessionId: id, after })));
  socket.on("message", (data) => {
    const { seq, type } = JSON.parse(String(data)) as { seq?: number; type: string };
    if (seq !== undefined && type !== "subscribed") hear(seq);
  });
  await new Promise<void>((resolve) => socket.on("close", () => resolve()));
}
