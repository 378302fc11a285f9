import type { Attributes, TraceParent } from "./span.ts";
import { parseTraceparent } from "./trace-ids.ts";

declare const OUTRIDER_VERSION: string;

type Variables = Readonly<Record<string, string | undefined>>;

/** Where one kind of telemetry goes. */
export type Destination = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isGzipped: boolean;
};

export type TraceSettings = {
  readonly resource: Attributes;
  readonly parent: TraceParent | undefined;
  readonly withContent: boolean;
  readonly traces: Destination | undefined;
  readonly metrics: (Destination & { readonly isDelta: boolean }) | undefined;
  /** Whether the spans of this trace are wanted. */
  isSampled(traceId: string): boolean;
  /** What was asked for and is not done, in a sentence each. */
  readonly notes: readonly string[];
};

/** The variables of OpenTelemetry, as every instrumented program reads them. */
export function parseTraceSettings(env: Variables): TraceSettings {
  const parent = parseTraceparent(env["TRACEPARENT"]);
  const { sampler, note } = parseSampler(env, parent);
  const traces = destinationOf(env, { kind: "TRACES", path: "v1/traces" });
  const metrics = destinationOf(env, { kind: "METRICS", path: "v1/metrics" });
  const preference = (env["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"] ?? "").toLowerCase();
  const isDelta = preference === "delta" || preference === "lowmemory";
  const asked = ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"].map((name) => env[name]).filter(Boolean);
  return {
    resource: resourceOf(env),
    parent,
    withContent: ["true", "1", "span_only", "span_and_event"].includes(
      (env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] ?? "").toLowerCase(),
    ),
    traces,
    metrics: metrics && { ...metrics, isDelta },
    isSampled: sampler,
    notes: [
      ...(asked.includes("grpc")
        ? ["Traces are sent as OTLP over HTTP in JSON: OTEL_EXPORTER_OTLP_PROTOCOL=grpc has no effect"]
        : []),
      ...(note === undefined ? [] : [note]),
    ],
  };
}

/** The general address is that of a folder, the one for a kind is used as it is. */
function destinationOf(env: Variables, { kind, path }: { kind: "TRACES" | "METRICS"; path: string }): Destination | undefined {
  const exporters = env[`OTEL_${kind}_EXPORTER`];
  if (exporters !== undefined && exporters !== "" && !exporters.split(",").some((name) => name.trim() === "otlp"))
    return undefined;
  const of = (name: string): string | undefined =>
    env[`OTEL_EXPORTER_OTLP_${kind}_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const own = env[`OTEL_EXPORTER_OTLP_${kind}_ENDPOINT`];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (base && `${base.replace(/\/+$/, "")}/${path}`);
  if (!url) return undefined;
  const timeout = Number(of("TIMEOUT"));
  return {
    url,
    headers: parsePairs(of("HEADERS")),
    timeoutMs: timeout > 0 ? timeout : 10_000,
    isGzipped: of("COMPRESSION") === "gzip",
  };
}

function resourceOf(env: Variables): Attributes {
  const given = parsePairs(env["OTEL_RESOURCE_ATTRIBUTES"]);
  return {
    "service.name": "outrider",
    "service.version": OUTRIDER_VERSION,
    "telemetry.sdk.name": "outrider",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": OUTRIDER_VERSION,
    ...given,
    ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
  };
}

/** `name=value,name=value`, the values percent-encoded. What is none is left out. */
function parsePairs(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").flatMap((pair) => {
    const [, name, value = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
    return name === undefined ? [] : [[name, decoded(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

type Sampler = TraceSettings["isSampled"];

function parseSampler(env: Variables, parent: TraceParent | undefined): { sampler: Sampler; note?: string } {
  const name = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const root = name.replace(/^parentbased_/, "");
  const share = Number(env["OTEL_TRACES_SAMPLER_ARG"] || 1);
  const roots: Readonly<Record<string, Sampler>> = {
    always_on: () => true,
    always_off: () => false,
    // As the specification has it: the last 56 bits of the id are the dice.
    traceidratio: (traceId) => Number.parseInt(traceId.slice(-14), 16) < share * 2 ** 56,
  };
  const sampler = roots[root];
  if (!sampler) return { sampler: () => true, note: `OTEL_TRACES_SAMPLER=${name} is not known: every trace is sent` };
  return { sampler: root !== name && parent ? () => parent.isSampled : sampler };
}
