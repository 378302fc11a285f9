import type { Usage } from "../../protocol/content.ts";
import type { Frame } from "./claude-frame.ts";

/** This wire counts cached input apart from `input_tokens`; ours counts it in. */
export function toClaudeUsage(usage: Usage): Frame {
  return {
    input_tokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}
