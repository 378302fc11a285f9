export type ModelChoice = { readonly provider: string | undefined; readonly model: string };

/** `openrouter/anthropic/claude-x` → provider and model; what does not begin with a known provider is a model's id as a whole. */
export function parseModelChoice(text: string, knownNames: readonly string[]): ModelChoice {
  const slash = text.indexOf("/");
  const prefix = text.slice(0, Math.max(0, slash));
  const model = text.slice(slash + 1);
  return knownNames.includes(prefix) && model ? { provider: prefix, model } : { provider: undefined, model: text };
}
