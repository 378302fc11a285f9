import { lookup } from "node:dns/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentEvent } from "@outrider/runtime";

export type WatchOptions = {
  /** Where workers show what they do. A name that stands for several machines is asked at each of them. */
  readonly sides: readonly string[];
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Whether the run has come to its end: nobody will have it any more. */
  readonly hasEnded: () => Promise<boolean>;
};

const lookAgainMs = 500;

/**
 * A run as it goes, with the text that a model is writing. It is heard where it is worked on, not through the engine; when a worker dies it is
 * looked for again, and what was said in between is missed.
 */
export async function* watchRun({ sides, runId, signal, hasEnded }: WatchOptions): AsyncGenerator<AgentEvent> {
  while (!signal.aborted) {
    const response = await find(sides, runId, signal);
    if (response?.body) yield* read(response.body, signal);
    if (signal.aborted || (await hasEnded())) return;
    await delay(lookAgainMs, undefined, { signal }).catch(() => {});
  }
}

async function find(sides: readonly string[], runId: string, signal: AbortSignal): Promise<Response | undefined> {
  const urls = (await Promise.all(sides.map(machinesOf))).flat();
  for (const url of urls) {
    const response = await fetch(`${url}/runs/${encodeURIComponent(runId)}/events`, { signal }).catch(() => undefined);
    if (response?.ok) return response;
    await response?.body?.cancel();
  }
  return undefined;
}

async function machinesOf(side: string): Promise<string[]> {
  const url = new URL(side);
  const found = await lookup(url.hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  return found.map(({ address, family }) => `${url.protocol}//${family === 6 ? `[${address}]` : address}:${url.port || 80}`);
}

async function* read(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of body) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield JSON.parse(block.slice("data: ".length)) as AgentEvent; // of our own worker
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof TypeError)) throw error; // a worker that died cut it off
  }
}
