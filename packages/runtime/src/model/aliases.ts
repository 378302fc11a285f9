/** Words that people write for the newest model of a family, and what each provider calls it. The first is whose model it is. */
const claude = (name: string): Homes => ({
  anthropic: `claude-${name}-5-5`,
  bedrock: `global.anthropic.claude-${name}-5-5`,
  vertex: `claude-${name}-5-5`,
  openrouter: `anthropic/claude-${name}-5.5`,
});

type Homes = Readonly<Record<string, string>>;

const at = (provider: string, model: string, router?: string): Homes => ({
  [provider]: model,
  ...(router && { openrouter: `${router}/${model}` }),
});

/** Makers that are no provider here: a router has their models, and a server at an address of its own may. */
const sold = (model: string, router: string): Homes => ({
  openrouter: `${router}/${model.toLowerCase()}`,
  "openai-compatible": model,
});

/** The words and their models; a test fails when one of these is not the newest of its tier. */
export const aliases: Readonly<Record<string, Homes>> = {
  sonnet: claude("sonnet"),
  opus: claude("opus"),
  // The newest small model is not on every cloud yet.
  haiku: {
    ...claude("haiku"),
    bedrock: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    vertex: "claude-haiku-4-5",
  },
  fable: { anthropic: "claude-fable-5-2", openrouter: "anthropic/claude-fable-5.2" },
  gpt: at("openai", "gpt-6.1-sol", "openai"),
  codex: at("openai", "gpt-6.1-sol", "openai"),
  "gpt-mini": at("openai", "gpt-6.1-terra", "openai"),
  "gpt-nano": at("openai", "gpt-6-luna", "openai"),
  "gpt-pro": at("openai", "gpt-6-astra", "openai"),
  luna: at("openai", "gpt-6-luna", "openai"),
  astra: at("openai", "gpt-6-astra", "openai"),
  gemini: { ...at("gemini", "gemini-4-argon", "google"), vertex: "gemini-4-argon" },
  "gemini-pro": { ...at("gemini", "gemini-4-argon", "google"), vertex: "gemini-4-argon" },
  "gemini-flash": { ...at("gemini", "gemini-3.8-flash", "google"), vertex: "gemini-3.8-flash" },
  "gemini-flash-lite": { ...at("gemini", "gemini-3.5-flash-lite", "google"), vertex: "gemini-3.5-flash-lite" },
  deepseek: at("deepseek", "deepseek-flash", "deepseek"),
  grok: at("xai", "grok-4.7", "x-ai"),
  mistral: at("mistral", "mistral-large-4", "mistralai"),
  devstral: at("mistral", "devstral-2512", "mistralai"),
  qwen: at("qwen", "qwen3.8-max", "qwen"),
  kimi: sold("kimi-k3.1-pro", "moonshotai"),
  glm: sold("glm-5.3", "z-ai"),
  minimax: sold("MiniMax-M3.1-Flash", "minimax"),
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The family that a word of Claude Code's names: `opusplan` plans with the large one and works with this. */
function familyOf(word: string): string {
  if (word === "opusplan") return "sonnet";
  return word === "best" ? "opus" : word;
}

export function isAlias(name: string): boolean {
  return Object.hasOwn(aliases, familyOf(plainWord(name)));
}

function plainWord(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/\[1m\]$/, "");
}

/** The model that a word stands for at a provider: what the environment says, else the newest. Undefined where the provider has none of them. */
export function resolveAlias(name: string, provider: string, env: Environment = {}): string | undefined {
  const family = familyOf(plainWord(name));
  const homes = Object.hasOwn(aliases, family) ? aliases[family] : undefined;
  const model = homes?.[provider];
  if (model === undefined) return undefined;
  const own = claudeHosts.has(provider)
    ? variablesFor(family)
        .map((variable) => env[variable]?.trim())
        .find(Boolean)
    : undefined;
  return own ?? model;
}

const claudeHosts: ReadonlySet<string> = new Set(["anthropic", "bedrock", "vertex"]);

/** Claude Code's variables for what its words mean. */
function variablesFor(family: string): string[] {
  if (!["sonnet", "opus", "haiku", "fable"].includes(family)) return [];
  const variable = `ANTHROPIC_DEFAULT_${family.toUpperCase()}_MODEL`;
  return family === "haiku" ? [variable, "ANTHROPIC_SMALL_FAST_MODEL"] : [variable];
}

/** Whose model a word or an id is: `gpt-5.5` is OpenAI's, wherever else it is sold. */
export function homeOf(name: string): string | undefined {
  const word = familyOf(plainWord(name));
  if (Object.hasOwn(aliases, word)) return Object.keys(aliases[word] ?? {})[0];
  return makers.find(([pattern]) => pattern.test(word))?.[1];
}

/** How the ids of a maker's models begin. */
const makers: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^claude-/, "anthropic"],
  [/^(?:gpt-\d|o\d(?:-|$)|chatgpt-|codex-)/, "openai"],
  [/^gemini-/, "gemini"],
  [/^deepseek-(?!r1-distill)/, "deepseek"],
  [/^grok-/, "xai"],
  [/^(?:mistral|devstral|codestral|magistral|ministral|pixtral)-/, "mistral"],
  [/^qwen(?:\d|-|3)/, "qwen"],
];

/** Every word that means something at a provider, with its model. */
export function aliasesAt(provider: string, env: Environment = {}): { readonly word: string; readonly model: string }[] {
  const words = [...Object.keys(aliases), "opusplan", "best"];
  return words.flatMap((word) => {
    const model = resolveAlias(word, provider, env);
    return model === undefined ? [] : [{ word, model }];
  });
}
