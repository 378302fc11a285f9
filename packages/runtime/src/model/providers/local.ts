import { defineCompatible } from "./compatible.ts";
import type { ProviderDefinition } from "./definition.ts";

/**
 * Servers people run themselves. They need no key, have no default model, and their window is whatever they were started with.
 * None keeps to a schema and calls tools at once: the schema would forbid the call.
 */
const common = {
  keyVariables: [],
  keyOptional: true,
  defaultModel: undefined,
  contextWindow: 32_768,
} as const;
const plain = { maxTokensField: "max_tokens", nativeSchema: false } as const;

export const localDefinitions: readonly ProviderDefinition[] = [
  defineCompatible({
    ...common,
    name: "ollama",
    title: "Ollama",
    baseURL: "http://localhost:11434/v1",
    baseURLVariables: ["OLLAMA_HOST"],
    setupLink: "https://ollama.com/download",
    local: { port: 11434, path: "/v1/models" },
    quirks: { ...plain, reasoningField: "reasoning", effortWords: { minimal: "none" } },
  }),
  defineCompatible({
    ...common,
    name: "lmstudio",
    title: "LM Studio",
    baseURL: "http://localhost:1234/v1",
    setupLink: "https://lmstudio.ai/docs/developer/core/server",
    local: { port: 1234, path: "/v1/models" },
    quirks: { ...plain, effort: "none", projectThinkTags: true },
  }),
  defineCompatible({
    ...common,
    name: "llama.cpp",
    title: "llama.cpp",
    baseURL: "http://localhost:8080/v1",
    setupLink: "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
    local: { port: 8080, path: "/v1/models" },
    quirks: { ...plain, effort: "chat_template_kwargs", projectThinkTags: true },
  }),
  defineCompatible({
    ...common,
    name: "vllm",
    title: "vLLM",
    baseURL: "http://localhost:8000/v1",
    keyVariables: ["VLLM_API_KEY"],
    setupLink: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
    local: { port: 8000, path: "/v1/models" },
    quirks: { ...plain, effort: "chat_template_kwargs", projectThinkTags: true },
  }),
  // Gemma models think and call tools in words of their own, which most servers pass on as text. Any server may run them.
  defineCompatible({
    ...common,
    name: "gemma",
    title: "Gemma",
    baseURL: "http://localhost:1234/v1",
    setupLink: "https://ai.google.dev/gemma/docs",
    quirks: { ...plain, effort: "chat_template_kwargs", projectThinkTags: true },
  }),
];
