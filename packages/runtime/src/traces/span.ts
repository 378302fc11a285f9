/** A number that is always told as one with a fraction, whatever its value. */
export type Double = { readonly double: number };
export type AttributeValue = string | number | boolean | readonly string[] | Double;
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export type SpanEvent = { readonly name: string; readonly atMs: number; readonly attributes: Attributes };

/** A piece of work that is over, as OpenTelemetry has it. Times are milliseconds since 1970. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  /** `client`: somebody else was asked. */
  readonly kind: "internal" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** Why it failed; absent when it did not. */
  readonly failure?: string | undefined;
};

/** One value for a histogram or a sum. */
export type Measure = { readonly metric: MetricName; readonly value: number; readonly attributes: Attributes };
export type MetricName =
  | "gen_ai.client.token.usage"
  | "gen_ai.client.operation.duration"
  | "gen_ai.client.operation.time_to_first_chunk"
  | "outrider.cost";

/** Where a trace goes on: the work of somebody who has started us. */
export type TraceParent = { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean };
