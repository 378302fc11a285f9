import type { ProviderDefinition } from "./definition.ts";

/** Alibaba's models in DashScope's compatible mode. Option: `builtInWebTools: { webSearch, webFetch }`, both run by DashScope. */
export const qwen: ProviderDefinition = {
  name: "qwen",
  title: "Qwen",
  baseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  baseURLVariables: ["DASHSCOPE_BASE_URL"],
  keyVariables: ["DASHSCOPE_API_KEY"],
  keyOptional: false,
  defaultModel: "qwen3.8-max",
  contextWindow: 131_072,
  setupLink: "https://modelstudio.console.alibabacloud.com/?tab=model#/api-key",
  connect: async (settings) => await (await import("./qwen-connection.ts")).connectQwen(settings),
};
