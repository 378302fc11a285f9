import { RuntimeError } from "../../protocol/errors.ts";
import { nearest } from "../../util/nearest.ts";
import { azure } from "./azure.ts";
import { bedrock } from "./bedrock.ts";
import { compatibleDefinitions } from "./compatible.ts";
import type { ProviderDefinition } from "./definition.ts";
import { anthropic, gemini, openai } from "./hosted.ts";
import { localDefinitions } from "./local.ts";
import { qwen } from "./qwen.ts";
import { vertex } from "./vertex.ts";

export const providerDefinitions: readonly ProviderDefinition[] = [
  anthropic,
  openai,
  gemini,
  ...compatibleDefinitions,
  qwen,
  // After those with a key of their own: the variables of clouds are often set for other reasons.
  azure,
  bedrock,
  vertex,
  ...localDefinitions,
];

export function findProvider(name: string): ProviderDefinition | undefined {
  return providerDefinitions.find((definition) => definition.name === name);
}

/** Like `findProvider`, for a name somebody typed. */
export function requireProvider(name: string): ProviderDefinition {
  const definition = findProvider(name);
  if (definition) return definition;
  const names = providerDefinitions.map((known) => known.name);
  const guess = nearest(name, names);
  throw new RuntimeError("config", `There is no provider ${JSON.stringify(name)}${guess ? `; did you mean ${guess}?` : ""}`, {
    hint: `Known: ${names.join(", ")}`,
  });
}
