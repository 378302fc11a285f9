import type { ProviderDefinition } from "./definition.ts";

/** The model is the name of a deployment. Option: `apiVersion`. */
export const azure: ProviderDefinition = {
  name: "azure",
  title: "Azure OpenAI",
  baseURL: undefined,
  baseURLVariables: ["AZURE_OPENAI_ENDPOINT"],
  keyVariables: ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"],
  keyOptional: false,
  defaultModel: undefined,
  contextWindow: 128_000,
  setupLink: "https://portal.azure.com",
  connect: async (settings) => await (await import("./azure-connection.ts")).connectAzure(settings),
};
