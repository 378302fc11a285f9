import type { AgentEvent, Outcome, SessionOptions } from "@outrider/runtime";
import { priceCalls } from "@outrider/runtime/admin";
import type { ModelCall } from "@outrider/runtime/host";
import { oneLine, toCount } from "./narrator.ts";
import { createPaint } from "./paint.ts";

/** What the last words about a run are made of. */
export type Ending = {
  readonly outcome: Outcome;
  readonly sessionId: string;
  readonly calls: readonly ModelCall[];
  readonly ended?: AgentEvent<"turn.ended"> | undefined;
  readonly startedAt: number;
  readonly coloured: boolean;
  readonly catalogOverride: SessionOptions["catalogOverride"];
};

const mostDenials = 10;

/** Which calls were not permitted, why, and which rule would have allowed them. */
export function toDenials(denied: readonly AgentEvent<"tool.ended">[]): string {
  const shown = denied.slice(0, mostDenials).map(({ name, result }) => {
    const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
    return `  ${name}: ${oneLine(text)}`;
  });
  const more = denied.length > mostDenials ? [`  … and ${denied.length - mostDenials} more`] : [];
  const head = denied.length === 1 ? "one call was not permitted:" : `${denied.length} calls were not permitted:`;
  return [head, ...shown, ...more].join("\n");
}

/** One line: how it went, how long it took, and what it used and cost. */
export async function toClosingLine({
  outcome,
  sessionId,
  calls,
  ended,
  startedAt,
  coloured,
  catalogOverride,
}: Ending): Promise<string> {
  const paint = createPaint(coloured);
  const { total } = await priceCalls(calls, catalogOverride);
  const { inputTokens, outputTokens, cacheReadTokens } = total.usage;
  const cached = cacheReadTokens > 0 ? ` (${toCount(cacheReadTokens)} cached)` : "";
  const turns = ended?.modelCalls ?? calls.length;
  const facts = [
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    `${((Date.now() - startedAt) / 1000).toFixed(1)} s`,
    `${toCount(inputTokens)} tokens in${cached}, ${toCount(outputTokens)} out`,
    total.costUsd === null ? "cost not known" : `$${total.costUsd.toFixed(4)}`,
    `session ${sessionId}`,
  ];
  const mark = outcome.type === "completed" ? paint.green("✓ done") : paint.red(`✗ ${outcome.type}`);
  return `${mark} ${paint.dim(`· ${facts.join(" · ")}`)}`;
}
