import type { SessionOptions } from "../session/session-options.ts";
import { openTracer, type Tracer, type TracerOptions } from "../traces/tracer.ts";
import type { SessionRequest } from "./session-request.ts";

type PlannedTraces = { readonly tracer?: Tracer | undefined; readonly traceparent?: SessionOptions["traceparent"] };

/**
 * Follows the session where the variables around name somebody who takes traces; what the settings of a project say about it does not
 * count, as it would send words elsewhere. Without traces of our own, a call is part of the work of who has started us.
 */
export async function planTraces(
  { mainAgent, options }: SessionRequest,
  place: Omit<TracerOptions, "agent">,
): Promise<PlannedTraces> {
  const { env } = place;
  const isWanted = ["ENDPOINT", "TRACES_ENDPOINT", "METRICS_ENDPOINT"].some((name) => env[`OTEL_EXPORTER_OTLP_${name}`]);
  if (isWanted && env["OTEL_SDK_DISABLED"]?.toLowerCase() !== "true" && !options?.agent) {
    const tracer = await openTracer({ ...place, agent: mainAgent });
    return { tracer, traceparent: (...call) => tracer.traceparentOf(...call) };
  }
  const given = env["TRACEPARENT"];
  return given ? { traceparent: () => given } : {};
}
