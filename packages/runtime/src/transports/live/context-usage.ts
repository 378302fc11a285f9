import type { ContextUse } from "../../commands/command.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { SessionFacts } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";

/** The rows that the SDK has names for; every other part of a request is messages. */
const rows: Readonly<Record<string, { readonly id: string; readonly name: string; readonly color: string }>> = {
  "system prompt": { id: "system_prompt", name: "System prompt", color: "gray" },
  instructions: { id: "memory_files", name: "Memory files", color: "orange" },
  tools: { id: "system_tools", name: "System tools", color: "cyan" },
};
const messages = { id: "messages", name: "Messages", color: "blue" };

/** How much of the window is used, and by what, in the shape the SDK promises. */
export function toContextUsage(
  { model, usedTokens, maxTokens, compactsAt, shares }: ContextUse,
  facts: SessionFacts,
): JsonObject {
  const known = shares.flatMap(({ name, tokens }) => (rows[name] ? [{ ...rows[name], tokens, kind: "used" }] : []));
  const said = Math.max(0, usedTokens - known.reduce((sum, { tokens }) => sum + tokens, 0));
  return {
    categories: [
      ...known,
      ...(said > 0 ? [{ ...messages, tokens: said, kind: "used" }] : []),
      { id: "free_space", name: "Free space", tokens: Math.max(0, maxTokens - usedTokens), color: "gray", kind: "free" },
    ],
    totalTokens: usedTokens,
    maxTokens,
    rawMaxTokens: maxTokens,
    percentage: Math.round((usedTokens / maxTokens) * 100),
    gridRows: [],
    model,
    memoryFiles: (facts.instructionFiles ?? []).map(({ path, bytes }) => ({
      path,
      type: "Instructions",
      tokens: Math.ceil(bytes / 4),
    })),
    mcpTools: [],
    agents: [],
    ...defined({ autoCompactThreshold: compactsAt }),
    isAutoCompactEnabled: compactsAt !== undefined,
    apiUsage: null,
  };
}
