import type { ProviderDefinition } from "./definition.ts";

/** Claude on Amazon Bedrock, with a Bedrock key or with signed requests. Option: `region`. */
export const bedrock: ProviderDefinition = {
  name: "bedrock",
  title: "Amazon Bedrock",
  baseURL: "https://bedrock-runtime.{region}.amazonaws.com",
  baseURLVariables: ["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"],
  keyVariables: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"],
  keyOptional: false,
  defaultModel: "global.anthropic.claude-sonnet-5-5",
  contextWindow: 200_000,
  setupLink: "https://console.aws.amazon.com/bedrock/home#/api-keys",
  connect: async (settings) => await (await import("./bedrock-connection.ts")).connectBedrock(settings),
};
