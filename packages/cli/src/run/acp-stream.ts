import type { Readable } from "node:stream";
import { type AnyMessage, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { isTooDeep } from "@outrider/runtime/acp";
import type { LineOutput } from "@outrider/runtime/host";

/** Requests that may be open at once. A client that asks on and reads nothing is not read from any more. */
const maxUnanswered = 256;

/**
 * JSON-RPC over lines. A writer waits for a slow reader; what is read is bounded by what is still to be answered,
 * and notifications, such as a cancel, are read as long as the client has not lost all measure. When the input ends, what was asked
 * before is still answered; `onInputEnd` is to bring that about.
 */
export function openAcpStream(input: Readable, output: LineOutput, onInputEnd: () => Promise<void>): Stream {
  const unanswered = new Unanswered();
  const write = async (text: string): Promise<void> => {
    output.write(text);
    if (output.full) await output.drain();
  };
  const bytes = new WritableStream<Uint8Array>({ write: (chunk) => write(Buffer.from(chunk).toString("utf8")) });
  const { readable } = ndJsonStream(bytes, toWeb(input, unanswered, onInputEnd)); // answers by itself what is no JSON
  return {
    readable: readable.pipeThrough(
      new TransformStream<AnyMessage, AnyMessage>({
        async transform(message, controller) {
          if (isTooDeep(message)) return await write(refusal(message)); // the packages that it goes through would run out of stack
          if (willBeAnswered(message)) unanswered.add();
          controller.enqueue(message);
        },
      }),
    ),
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        await write(`${JSON.stringify(message)}\n`);
        if (!("method" in message)) unanswered.remove();
      },
    }),
  };
}

function refusal(message: object): string {
  const { id } = { id: null, ...message };
  const shown = typeof id === "string" || typeof id === "number" ? id : null;
  return `${JSON.stringify({ jsonrpc: "2.0", id: shown, error: { code: -32600, message: "It is nested too deeply" } })}\n`;
}

/** Requests, and everything that is neither a notification nor an answer of the client. */
function willBeAnswered(message: object): boolean {
  const { method, jsonrpc } = { method: undefined, jsonrpc: undefined, ...message };
  if ("method" in message) return "id" in message || typeof method !== "string" || jsonrpc !== "2.0";
  return !("id" in message || "result" in message || "error" in message);
}

class Unanswered {
  #count = 0;
  #wake: () => void = () => {};

  add(): void {
    this.#count++;
  }

  remove(): void {
    this.#count--;
    this.#wake();
  }

  /** Resolves when fewer than this many are open. */
  async fewerThan(limit: number): Promise<void> {
    while (this.#count >= limit)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

const lineEnd = new Uint8Array([10]);

/** One chunk when it is asked for, and none before there is room. */
function toWeb(input: Readable, unanswered: Unanswered, onInputEnd: () => Promise<void>): ReadableStream<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>; // a stream without an encoding gives bytes
  let ended = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await unanswered.fewerThan(maxUnanswered);
        if (!ended) {
          const { value, done } = await chunks.next();
          if (!done) return controller.enqueue(value);
          ended = true;
          return controller.enqueue(lineEnd); // the last line may have none
        }
        await new Promise((resolve) => setImmediate(resolve)); // by then the last line has been taken for a request
        await atMost(
          graceMs,
          onInputEnd().then(() => unanswered.fewerThan(1)),
        );
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** How long a client that has said its last word may take to read its answers. */
export const graceMs = 1000;

export async function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
