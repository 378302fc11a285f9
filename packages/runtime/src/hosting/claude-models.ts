import { firstSet } from "../model/providers/definition.ts";
import type { ClaudeChoices } from "../settings/claude-choices.ts";
import { choose, type ProviderChoice } from "../settings/load-provider.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import type { Surroundings } from "./surroundings.ts";

const sellers: ReadonlySet<string> = new Set(["anthropic", "bedrock", "vertex"]);

/** What Claude Code's files say of models, where one of those that have its models is asked, and nothing else names a model. */
export async function claudeModels(
  { provider, model }: ProviderChoice,
  { claude, provider: profiles }: ResolvedSettings["settings"],
  env: Surroundings["env"],
): Promise<Pick<ClaudeChoices, "model" | "fallbackModel">> {
  const chosen = await choose(provider, profiles, env).catch(() => undefined); // told when it is loaded
  if (!chosen || !sellers.has(chosen.definition.name)) return {};
  const isNamed = model ?? chosen.profile.model ?? firstSet(env, chosen.definition.modelVariables ?? []);
  return { model: isNamed === undefined ? claude.model : undefined, fallbackModel: claude.fallbackModel };
}
