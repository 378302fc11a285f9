import { claudeModels } from "../../model/capabilities/claude.ts";
import { findRecord, isLong } from "../../model/capabilities/record.ts";
import type { ModelRef } from "../../protocol/content.ts";
import type { SessionOptions } from "../session-options.ts";

/**
 * Tokens that a request and its answer may have together: what fits, or less where more is refused or costs a multiple. It is asked for
 * after every answer, so the models that most runs ask are found without loading the tables of all the others.
 */
export async function windowOf(options: SessionOptions, model: ModelRef): Promise<number> {
  const { contextWindow, contextWindowIsGuess } = options.provider;
  if (!contextWindowIsGuess) return contextWindow;
  return windowOfClaude(options, model) ?? (await (await import("./model-limits.ts")).lookUpWindow(options, model));
}

function windowOfClaude({ catalogOverride }: SessionOptions, { provider, id }: ModelRef): number | undefined {
  const record = findRecord(claudeModels, id);
  if (isLong(id) && record) return record.longWindow ?? record.contextWindow;
  const isOwn = provider === "anthropic" && record !== undefined && !record.guessed;
  return isOwn && !catalogOverride ? (record.workingWindow ?? record.contextWindow) : undefined;
}
