import type { JsonObject } from "../protocol/content.ts";
import { messageOf } from "../util/message-of.ts";
import { sleep } from "../util/sleep.ts";
import type { Destination } from "./trace-settings.ts";

const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const retryMs = [500, 1500];

/** Sends one request; answers why it could not, and never rejects. */
export async function sendTelemetry(
  body: JsonObject,
  { url, headers, timeoutMs, isGzipped }: Destination,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = JSON.stringify(body);
  const { gzipSync } = process.getBuiltinModule("node:zlib");
  const request = {
    method: "POST",
    headers: { "content-type": "application/json", ...(isGzipped && { "content-encoding": "gzip" }), ...headers },
    body: isGzipped ? new Uint8Array(gzipSync(text)) : text,
    redirect: "error" as const, // headers hold keys: they go nowhere else
  };
  try {
    for (let attempt = 0; ; attempt++) {
      const answer = await fetch(url, { ...request, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
      const said = await answer.text();
      if (answer.ok) return undefined;
      const pause = retryMs[attempt];
      if (!retryable.has(answer.status) || pause === undefined)
        return `it answered ${answer.status} ${said.slice(0, 200)}`.trim();
      const wanted = Number(answer.headers.get("retry-after")) * 1000;
      await sleep(wanted > 0 ? Math.min(wanted, timeoutMs) : pause, signal);
    }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    return `${messageOf(error)}${cause}`;
  }
}
