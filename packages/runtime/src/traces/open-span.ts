import type { Attributes, Span, SpanEvent } from "./span.ts";

export type SpanStart = Pick<Span, "traceId" | "spanId" | "parentSpanId" | "name" | "kind" | "startMs" | "attributes">;

/** Work that goes on. */
export class OpenSpan {
  readonly start: SpanStart;
  readonly #events: SpanEvent[] = [];
  #attributes: Attributes;

  constructor(start: SpanStart) {
    this.start = start;
    this.#attributes = start.attributes;
  }

  note(...events: readonly SpanEvent[]): void {
    this.#events.push(...events);
  }

  add(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** Nothing ends before it began, also where a clock was put back. */
  end(atMs: number, failure?: string): Span {
    const { start } = this;
    const endMs = Math.max(atMs, start.startMs);
    return { ...start, endMs, attributes: this.#attributes, events: this.#events, failure };
  }
}
