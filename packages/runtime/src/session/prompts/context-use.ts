import type { ContextUse } from "../../commands/command.ts";
import { limitsOf } from "../../context/compaction-limits.ts";
import { TokenCount } from "../../context/token-count.ts";
import { estimateMessage, estimateResult, estimateText } from "../../context/token-estimate.ts";
import type { SessionDeps } from "../../engine/deps.ts";
import type { Transcript } from "../../journal/transcript.ts";
import type { FactsOf } from "../../protocol/tool-facts.ts";
import { factsAmong } from "../../tools/builtin/facts.ts";

export type ContextSource = {
  readonly deps: SessionDeps;
  readonly transcript: Pick<Transcript, "messages" | "measuredFrom" | "hasSummary">;
  readonly threshold: number | false;
  /** What of the system prompt comes from instruction files. */
  readonly instructions: string | undefined;
};

/**
 * What the next request would be made of. The whole is what the provider counted last and an estimate of what came since; the parts are
 * estimates, drawn to the same scale.
 */
export async function contextUse({ deps, transcript, threshold, instructions }: ContextSource): Promise<ContextUse> {
  const { request } = deps;
  const { messages } = transcript;
  const counted = new TokenCount(request, transcript.measuredFrom);
  const usedTokens = Math.round(counted.used(messages));
  const { window, limit } = limitsOf(await deps.contextWindow(), threshold, request);
  const told = instructions && request.system.includes(instructions) ? estimateText(instructions) : 0;
  const shares = new Map<string, number>([
    ["system prompt", estimateText(request.system) - told],
    ["instructions", told],
    ["tools", request.tools.length === 0 ? 0 : estimateText(JSON.stringify(request.tools))],
  ]);
  const add = (name: string, tokens: number): void => void shares.set(name, (shares.get(name) ?? 0) + tokens);
  const kindOf = toKind(factsAmong(deps.tools));
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") for (const part of message.content) add(kindOf(part.name), estimateResult(part));
    else if (message.role === "assistant") add("answers and calls", estimateMessage(message));
    else add(index === 0 && transcript.hasSummary ? "summary" : "prompts", estimateMessage(message));
  }
  return {
    model: request.model,
    usedTokens,
    maxTokens: window,
    ...(threshold !== false && { compactsAt: Math.round(limit) }),
    shares: [...shares]
      .filter(([, tokens]) => tokens > 0)
      .map(([name, tokens]) => ({ name, tokens: Math.round(tokens * counted.scale) })),
  };
}

/** Results by what was looked at, as far as tools tell. */
function toKind(factsOf: FactsOf): (tool: string) => string {
  return (tool) => {
    const facts = factsOf(tool);
    if (facts?.startsAgents) return "results of agents";
    if (facts?.fields?.file !== undefined || facts?.filesIn) return "files";
    if (facts?.fields?.command !== undefined) return "output of commands";
    if (facts?.fields?.folder !== undefined) return "searches";
    return "other results";
  };
}
