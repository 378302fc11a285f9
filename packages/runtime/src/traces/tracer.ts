import type { CatalogOverride } from "../model/catalog-override.ts";
import type { AgentEvent, EventType } from "../protocol/events.ts";
import { messageOf } from "../util/message-of.ts";
import { sendTelemetry } from "./exporter.ts";
import { MetricTable } from "./metrics.ts";
import { toMetricsRequest, toTraceRequest } from "./otlp-json.ts";
import type { Span } from "./span.ts";
import { TraceBuilder } from "./trace-builder.ts";
import { toTraceparent } from "./trace-ids.ts";
import { parseTraceSettings, type TraceSettings } from "./trace-settings.ts";

/** What a session has that can be followed. */
type Followed = {
  events(options: { types: readonly EventType[]; capacity: number; signal: AbortSignal }): AsyncIterable<AgentEvent>;
};

export type TracerOptions = {
  readonly sessionId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly catalogOverride: CatalogOverride | undefined;
  readonly agent: string | undefined;
  readonly warn: (line: string) => void;
};

const told: readonly EventType[] = [
  "session.started",
  "turn.started",
  "turn.ended",
  "message.ended",
  "side-call.ended",
  "retry.scheduled",
  "fallback.used",
  "tool.started",
  "tool.ended",
  "permission.requested",
  "permission.resolved",
  "task.started",
  "task.ended",
];
const maxWaiting = 8_192;
const batchSize = 512;
const sendEveryMs = 5_000;
/** So long a session that ends waits for what is still to be sent. */
const lastMs = 3_000;

/** Prices are loaded before the first answer is told. */
export async function openTracer(options: TracerOptions): Promise<Tracer> {
  const settings = parseTraceSettings(options.env);
  const { catalogOf, toPricedCall } = await import("../model/pricing.ts");
  const catalog = await catalogOf(options.catalogOverride);
  const builder = new TraceBuilder({
    parent: settings.parent,
    withContent: settings.withContent,
    agent: options.agent,
    priceOf: (call) => toPricedCall(catalog, call).costUsd,
  });
  return new Tracer(options, settings, builder);
}

/** Follows a session and sends what it tells as spans and metrics. It never makes the session wait, but for a moment at its end. */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #settings: TraceSettings;
  readonly #builder: TraceBuilder;
  readonly #metrics = new MetricTable();
  readonly #leaving = new AbortController();
  readonly #sending = new AbortController();
  #waiting: Span[] = [];
  #hasMeasured = false;
  #startMs = Date.now();
  #following: Promise<void> | undefined;
  #sent: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #hasComplained = false;

  constructor(options: TracerOptions, settings: TraceSettings, builder: TraceBuilder) {
    this.#options = options;
    this.#settings = settings;
    this.#builder = builder;
  }

  /** The `traceparent` under which a call's programs and servers go on. */
  traceparentOf(callId: string, taskId?: string): string {
    const place = this.#builder.placeOf(this.#options.sessionId, callId, taskId);
    return toTraceparent({ ...place, isSampled: this.#settings.isSampled(place.traceId) });
  }

  follow(session: Followed): void {
    for (const note of this.#settings.notes) this.#options.warn(note);
    const events = session.events({ types: told, capacity: maxWaiting, signal: this.#leaving.signal });
    this.#following = this.#read(events).catch((error: unknown) => this.#complain(`a part was lost: ${messageOf(error)}`));
    this.#timer = setInterval(() => this.#send(), sendEveryMs).unref();
  }

  /** Sends what is left, if that can be done soon. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const giveUp = setTimeout(() => this.#leaving.abort(), lastMs); // a session that is shut down has ended its events already
    await this.#following;
    clearTimeout(giveUp);
    this.#take(this.#builder.end(Date.now()));
    this.#send();
    const timer = setTimeout(() => this.#sending.abort(new Error(`it did not answer within ${lastMs / 1000} s`)), lastMs);
    await this.#sent;
    clearTimeout(timer);
  }

  async #read(events: AsyncIterable<AgentEvent>): Promise<void> {
    for await (const event of events) {
      this.#take(this.#builder.push(event));
      for (const measure of this.#builder.takeMeasures()) {
        this.#metrics.add(measure);
        this.#hasMeasured = true;
      }
      if (this.#waiting.length >= batchSize || event.type === "turn.ended") this.#send();
    }
  }

  #take(spans: readonly Span[]): void {
    if (!this.#settings.traces) return;
    const wanted = spans.filter(({ traceId }) => this.#settings.isSampled(traceId));
    const room = Math.max(0, maxWaiting - this.#waiting.length);
    this.#waiting.push(...wanted.slice(0, room));
    if (wanted.length > room) this.#complain(`${wanted.length - room} spans were lost: it is too slow`);
  }

  /** One after the other: whoever receives them is never asked twice at once. */
  #send(): void {
    this.#sent = this.#sent.then(() => this.#sendNow());
  }

  async #sendNow(): Promise<void> {
    const { traces, metrics, resource } = this.#settings;
    while (traces && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize);
      const problem = await sendTelemetry(toTraceRequest(batch, resource), traces, this.#sending.signal);
      if (problem !== undefined) return this.#complain(`${traces.url}: ${problem}`);
    }
    if (!metrics || !this.#hasMeasured) return;
    this.#hasMeasured = false;
    const nowMs = Date.now();
    const body = toMetricsRequest(this.#metrics.all, resource, { startMs: this.#startMs, nowMs, isDelta: metrics.isDelta });
    if (metrics.isDelta) {
      this.#metrics.clear();
      this.#startMs = nowMs;
    }
    const problem = await sendTelemetry(body, metrics, this.#sending.signal);
    if (problem !== undefined) this.#complain(`${metrics.url}: ${problem}`);
  }

  /** Once: a run is no worse for it. */
  #complain(problem: string): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    this.#options.warn(`Traces could not be sent: ${problem}`);
  }
}
