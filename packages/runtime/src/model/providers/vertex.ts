import type { ProviderDefinition } from "./definition.ts";

/** Claude and Gemini on Google's Vertex AI, each in its own wire. Options: `project`, `location`. */
export const vertex: ProviderDefinition = {
  name: "vertex",
  title: "Google Vertex AI",
  baseURL: "https://{location}-aiplatform.googleapis.com",
  baseURLVariables: [],
  keyVariables: ["GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"],
  keyOptional: false,
  defaultModel: "claude-sonnet-5-5",
  contextWindow: 200_000,
  setupLink: "https://console.cloud.google.com/iam-admin/serviceaccounts",
  connect: async (settings) => await (await import("./vertex-connection.ts")).connectVertex(settings),
};
