import type { OpenAIChatQuirks } from "../dialects/chat-wire.ts";
import { addPath, bearer, type Connection, type ConnectSettings, keyHint, type ProviderDefinition } from "./definition.ts";

/** A server that speaks OpenAI's Chat Completions, and in what it differs from OpenAI. */
export type CompatibleFacts = Omit<ProviderDefinition, "connect" | "keyOptional" | "baseURLVariables"> &
  Partial<Pick<ProviderDefinition, "keyOptional" | "baseURLVariables">> & {
    readonly quirks: OpenAIChatQuirks;
    /** What is asked to see whether a key is good, where the list of models is public. */
    readonly checkPath?: string;
  };

export function defineCompatible({ quirks, checkPath, ...facts }: CompatibleFacts): ProviderDefinition {
  return {
    keyOptional: false,
    baseURLVariables: [],
    ...facts,
    connect: (settings) => chatConnection(settings, quirks, checkPath),
  };
}

export async function chatConnection(
  settings: ConnectSettings,
  quirks: OpenAIChatQuirks,
  checkPath: string = "/models",
): Promise<Connection> {
  const [{ createOpenAIChat }, { openAIHttpError }] = await Promise.all([
    import("../dialects/openai-chat.ts"),
    import("../dialects/openai-errors.ts"),
  ]);
  const baseURL = versioned(settings);
  const headers = bearer(settings.key);
  const url = addPath(baseURL, "/chat/completions");
  return {
    dialect: createOpenAIChat(quirks),
    endpoint: () => ({ url, headers }),
    toError: openAIHttpError(settings.definition.title, keyHint(settings.definition)),
    check: { url: addPath(baseURL, checkPath), headers },
  };
}

/** A bare host gets the path that the provider's own address has: people write `http://localhost:11434` and mean its API. */
export function versioned({ baseURL, definition }: ConnectSettings): string {
  if (new URL(baseURL).pathname !== "/") return baseURL;
  const path = definition.baseURL ? new URL(definition.baseURL).pathname : "/v1";
  return path === "/" ? baseURL : addPath(baseURL, path);
}

export const compatibleDefinitions: readonly ProviderDefinition[] = [
  defineCompatible({
    name: "openrouter",
    title: "OpenRouter",
    baseURL: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    defaultModel: "anthropic/claude-sonnet-5.5",
    contextWindow: 128_000,
    setupLink: "https://openrouter.ai/settings/keys",
    checkPath: "/key",
    quirks: {
      recordsOf: "openrouter",
      maxTokensField: "max_tokens",
      effort: "reasoning",
      sendReasoning: true,
      reasoningField: "reasoning",
      marksCacheOf: /^~?anthropic\//,
    },
  }),
  defineCompatible({
    name: "deepseek",
    title: "DeepSeek",
    baseURL: "https://api.deepseek.com",
    keyVariables: ["DEEPSEEK_API_KEY"],
    defaultModel: "deepseek-flash",
    contextWindow: 128_000,
    setupLink: "https://platform.deepseek.com/api_keys",
    // A call made while thinking is refused without the thinking; JSON comes without a schema.
    quirks: {
      recordsOf: "deepseek",
      maxTokensField: "max_tokens",
      effort: "thinking",
      sendReasoning: true,
      images: false,
      nativeSchema: false,
    },
  }),
  defineCompatible({
    name: "groq",
    title: "Groq",
    baseURL: "https://api.groq.com/openai/v1",
    keyVariables: ["GROQ_API_KEY"],
    defaultModel: "openai/gpt-oss-120b",
    contextWindow: 131_072,
    setupLink: "https://console.groq.com/keys",
    // Schemas work neither with tools nor while streaming.
    quirks: { recordsOf: "groq", reasoningField: "reasoning", effortWords: { minimal: "low" }, nativeSchema: false },
  }),
  defineCompatible({
    name: "mistral",
    title: "Mistral",
    baseURL: "https://api.mistral.ai/v1",
    keyVariables: ["MISTRAL_API_KEY"],
    defaultModel: "mistral-large-4",
    contextWindow: 128_000,
    setupLink: "https://console.mistral.ai/api-keys",
    // Fields it does not know are refused; token counts come without being asked for.
    quirks: {
      recordsOf: "mistral",
      maxTokensField: "max_tokens",
      includeUsage: false,
      nineCharacterCallIds: true,
      effort: "none",
    },
  }),
  defineCompatible({
    name: "xai",
    title: "xAI",
    baseURL: "https://api.x.ai/v1",
    keyVariables: ["XAI_API_KEY"],
    defaultModel: "grok-4.7",
    contextWindow: 131_072,
    setupLink: "https://console.x.ai",
    quirks: { recordsOf: "xai", effortWords: { minimal: "low" } },
  }),
  defineCompatible({
    name: "together",
    title: "Together AI",
    baseURL: "https://api.together.xyz/v1",
    keyVariables: ["TOGETHER_API_KEY"],
    defaultModel: "openai/gpt-oss-120b",
    contextWindow: 131_072,
    setupLink: "https://api.together.ai/settings/api-keys",
    // Only some of its models keep to a schema.
    quirks: { recordsOf: "together", maxTokensField: "max_tokens", effortWords: { minimal: "low" }, nativeSchema: false },
  }),
  defineCompatible({
    name: "fireworks",
    title: "Fireworks AI",
    baseURL: "https://api.fireworks.ai/inference/v1",
    keyVariables: ["FIREWORKS_API_KEY"],
    defaultModel: "accounts/fireworks/models/gpt-oss-120b",
    contextWindow: 131_072,
    setupLink: "https://app.fireworks.ai/settings/users/api-keys",
    quirks: { recordsOf: "fireworks", maxTokensField: "max_tokens", effortWords: { minimal: "low" }, nativeSchema: false },
  }),
  defineCompatible({
    name: "openai-compatible",
    title: "The OpenAI-compatible server",
    baseURL: undefined,
    baseURLVariables: ["OPENAI_COMPATIBLE_BASE_URL"],
    // Not OPENAI_API_KEY: OpenAI's key is nobody else's business.
    keyVariables: ["OPENAI_COMPATIBLE_API_KEY"],
    keyOptional: true,
    defaultModel: undefined,
    contextWindow: 128_000,
    setupLink: undefined,
    quirks: { recordsOf: "openai-compatible", maxTokensField: "max_tokens", nativeSchema: false },
  }),
];
