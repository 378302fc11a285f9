import type { TraceParent } from "./span.ts";

/** Ids follow from names: what is exported later from the journal has the ids that tools were given while it ran. */
export function traceIdOf(sessionId: string, turnId: string): string {
  return hash(`trace\n${sessionId}\n${turnId}`).slice(0, 32);
}

export function spanIdOf(...names: readonly (string | number)[]): string {
  return hash(`span\n${names.join("\n")}`).slice(0, 16);
}

function hash(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

/** The W3C header of that name, as CI systems and other tracers leave it in a variable; undefined when it is none. */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(text?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function toTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
