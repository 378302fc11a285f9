import type { JsonObject, JsonValue } from "../protocol/content.ts";
import type { Metric } from "./metrics.ts";
import type { Attributes, AttributeValue, Span } from "./span.ts";

declare const OUTRIDER_VERSION: string;

const kinds = { internal: 1, client: 3 } as const;
const failed = 2;

/** An `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, 64-bit numbers as texts, names of fields as in the definitions. */
export function toTraceRequest(spans: readonly Span[], resource: Attributes): JsonObject {
  const scopeSpans = [{ scope, spans: spans.map(toSpan) }];
  return { resourceSpans: [{ resource: { attributes: toAttributes(resource) }, scopeSpans }] };
}

export type MetricTimes = { readonly startMs: number; readonly nowMs: number; readonly isDelta: boolean };

/** An `ExportMetricsServiceRequest`. */
export function toMetricsRequest(metrics: readonly Metric[], resource: Attributes, times: MetricTimes): JsonObject {
  const scopeMetrics = [{ scope, metrics: metrics.map((metric) => toMetric(metric, times)) }];
  return { resourceMetrics: [{ resource: { attributes: toAttributes(resource) }, scopeMetrics }] };
}

const scope = { name: "outrider", version: OUTRIDER_VERSION };

function toSpan({ parentSpanId, events, failure, ...span }: Span): JsonObject {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: toNanos(span.startMs),
    endTimeUnixNano: toNanos(span.endMs),
    attributes: toAttributes(span.attributes),
    events: events.map(({ name, atMs, attributes }) => ({
      timeUnixNano: toNanos(atMs),
      name,
      attributes: toAttributes(attributes),
    })),
    status: failure === undefined ? {} : { code: failed, message: failure },
  };
}

function toMetric({ name, unit, bounds, series }: Metric, { startMs, nowMs, isDelta }: MetricTimes): JsonObject {
  const times = { startTimeUnixNano: toNanos(startMs), timeUnixNano: toNanos(nowMs) };
  const aggregationTemporality = isDelta ? 1 : 2;
  if (!bounds) {
    const dataPoints = series.map(({ attributes, sum }) => ({ attributes: toAttributes(attributes), ...times, asDouble: sum }));
    return { name, unit, sum: { dataPoints, aggregationTemporality, isMonotonic: true } };
  }
  const dataPoints = series.map(({ attributes, count, sum, min, max, buckets }) => ({
    attributes: toAttributes(attributes),
    ...times,
    count: String(count),
    sum,
    min,
    max,
    bucketCounts: buckets.map(String),
    explicitBounds: [...bounds],
  }));
  return { name, unit, histogram: { dataPoints, aggregationTemporality } };
}

/** Milliseconds may have a fraction; nanoseconds do not fit into a number. */
function toNanos(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n);
}

function toAttributes(attributes: Attributes): JsonObject[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]));
}

function toValue(value: AttributeValue): JsonValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if ("double" in value) return { doubleValue: value.double };
  return { arrayValue: { values: value.map((item) => ({ stringValue: item })) } };
}
