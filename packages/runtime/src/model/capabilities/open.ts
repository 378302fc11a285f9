import type { ModelRecord, RecordTable } from "./record.ts";

const common: RecordTable["common"] = {
  contextWindow: 131_072,
  maxOutputTokens: 131_072,
  thinking: [],
  efforts: [],
  temperature: "any",
  stopSequences: true,
  nativeSchema: true,
  images: false,
  pdf: false,
  parallelCalls: true,
  editTool: "replace",
  forcedToolChoice: true,
  prefill: true,
  sendBack: "nothing",
  chatTools: "any",
};

/** A maker whose models are asked over Chat Completions. */
function maker(name: string, own: Partial<ModelRecord>, lines: string): RecordTable {
  return { maker: name, common: { ...common, ...own }, lines };
}

/** By the name of the provider. `thinking` says in which fields an effort is asked for. */
export const openModels: Readonly<Record<string, RecordTable>> = {
  deepseek: maker(
    "deepseek",
    { contextWindow: 1_000_000, maxOutputTokens: 384_000, thinking: ["switch", "effort"], nativeSchema: false, sendBack: "text" },
    `
deepseek-v4-pro large efforts=high,max
deepseek-flash medium efforts=low,high,max images=yes
`,
  ),
  qwen: maker(
    "alibaba",
    { contextWindow: 1_000_000, thinking: ["enable_thinking"], nativeSchema: false, sendBack: "text" },
    `
qwen3.8-max large thinking=enable_thinking,effort efforts=low,medium,xhigh usualEffort=medium images=yes
qwen3.7-max large
qwen3.8-flash medium thinking=enable_thinking,effort efforts=low,medium,xhigh usualEffort=medium images=yes
qwen3-coder-plus medium contextWindow=1048576 maxOutputTokens=65536 thinking= sendBack=nothing
`,
  ),
  moonshot: maker(
    "moonshotai",
    {
      contextWindow: 1_048_576,
      maxOutputTokens: 1_048_576,
      thinking: ["effort"],
      temperature: "none",
      images: true,
      sendBack: "text",
    },
    `
kimi-k3.1-pro large efforts=low,high,max usualEffort=high
kimi-k3 large efforts=low,high,max usualEffort=high
kimi-k2.6 medium retires=2026-12-31 contextWindow=262144 maxOutputTokens=262144 thinking=switch nativeSchema=no
`,
  ),
  zai: maker(
    "zai",
    { contextWindow: 1_000_000, thinking: ["effort"], temperatures: [0, 1], nativeSchema: false, sendBack: "text" },
    `
glm-5.3 large efforts=low,high,max usualEffort=high
glm-5.2 large thinking=switch,effort efforts=high,max
glm-5.3-flash small efforts=low,high,max usualEffort=high images=yes
`,
  ),
  minimax: maker(
    "minimax",
    {
      contextWindow: 1_000_000,
      maxOutputTokens: 524_288,
      temperatures: [0.01, 1],
      nativeSchema: false,
      images: true,
      sendBack: "text",
    },
    `
MiniMax-M3 large workingWindow=512000
MiniMax-M3.1-Flash medium efforts=low,medium,high,xhigh,max usualEffort=high thinking=effort
MiniMax-M2.7 medium retires=2026-11-18 contextWindow=204800 maxOutputTokens=131072 images=no
`,
  ),
  xai: maker(
    "xai",
    {
      contextWindow: 500_000,
      workingWindow: 200_000,
      maxOutputTokens: 128_000,
      thinking: ["effort"],
      efforts: ["low", "medium", "high", "xhigh"],
      stopSequences: false,
      images: true,
      sendBack: "encrypted",
    },
    `
grok-4.7 large
grok-4.6 large
grok-4.5 large
grok-4.3 large contextWindow=1000000 maxOutputTokens=30000 efforts=none,low,medium,high,xhigh
grok-4.20-0309-reasoning large contextWindow=1000000 maxOutputTokens=30000 thinking= efforts= pdf=yes
`,
  ),
  mistral: maker(
    "mistral",
    { contextWindow: 262_144, maxOutputTokens: 262_144, thinking: ["effort"], temperatures: [0, 1.5], images: true },
    `
mistral-large-4 large contextWindow=1048576 efforts=low,medium,high
mistral-medium-3.5 medium efforts=none,high
devstral-2512 medium thinking= images=no
mistral-small-2603 small maxOutputTokens=256000 efforts=none,high
codestral-2508 small contextWindow=256000 maxOutputTokens=8192 thinking= images=no
`,
  ),
  groq: maker(
    "groq",
    { nativeSchema: false },
    `
openai/gpt-oss-120b open maxOutputTokens=65536 thinking=effort efforts=low,medium,high sendBack=text
openai/gpt-oss-20b open maxOutputTokens=65536 thinking=effort efforts=low,medium,high sendBack=text
qwen/qwen3.8-27b open maxOutputTokens=16384 thinking=effort efforts=none,low,medium,high images=yes sendBack=text
llama-3.3-70b-versatile open maxOutputTokens=32768
llama-3.1-8b-instant open
`,
  ),
  meta: maker(
    "meta",
    { contextWindow: 1_048_576, thinking: ["effort"], images: true },
    `
muse-spark-1.3 large efforts=minimal,low,medium,high,xhigh,max
`,
  ),
};
