import type { BilledCall } from "../model/ledger.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { toTraceRequest } from "./otlp-json.ts";
import { TraceBuilder } from "./trace-builder.ts";
import { parseTraceSettings } from "./trace-settings.ts";

export type TraceExport = {
  /** The variables that say what the resource is, and whether words are told. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly priceOf: (call: BilledCall) => number | null;
};

/** A session that is on record, as a running one would have been sent: in the JSON of OTLP, with the same ids. */
export function exportTrace(events: readonly AgentEvent[], { env, priceOf }: TraceExport): JsonObject {
  const { withContent, resource } = parseTraceSettings(env);
  const builder = new TraceBuilder({ withContent, priceOf });
  const spans = events.flatMap((event) => builder.push(event));
  return toTraceRequest([...spans, ...builder.end(Date.parse(events.at(-1)?.at ?? ""))], resource);
}
