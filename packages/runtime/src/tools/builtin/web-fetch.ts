import { forgives } from "../forgiven/later.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { ResolveHost } from "../http-get.ts";
import { defineTool, type Tool } from "../tool.ts";
import { webFetchFacts } from "./facts.ts";

type WebFetchInput = { url: string; prompt?: string };

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    url: { type: "string", minLength: 1, description: "The full address, starting with http:// or https://." },
    prompt: {
      type: "string",
      description: "What you want to know. Optional: the whole text is returned either way, for you to read.",
    },
  },
  required: ["url"],
  additionalProperties: false,
};

export type WebFetchOptions = {
  /** Also fetch from loopback and private networks. Off: what runs beside the agent is not for the agent to read. */
  readonly allowPrivate?: boolean;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  /** Every address of a host; the system's resolver when absent. */
  readonly resolve?: ResolveHost;
};

export function createWebFetchTool(options: WebFetchOptions = {}): Tool {
  const { allowPrivate = false, maxBytes = 10 * 1024 * 1024, timeoutMs = 30_000 } = options;
  return defineTool<WebFetchInput>({
    name: "WebFetch",
    description:
      "Fetches one web page (http or https, GET, no cookies, no scripts run) and answers with its text: HTML becomes readable text with links, " +
      "JSON and plain text come as they are. At most 10 MB and 30 seconds. A redirect to another host is reported, not followed: fetch the new URL " +
      "if you want it. Private and local addresses are refused.",
    inputSchema,
    checkInput: async (input) => await (await import("../forgiven/searches.ts")).checkAddress(inputSchema, input),
    concurrent: true,
    forgives: forgives("webFetch"),
    facts: webFetchFacts,
    async access(input) {
      // The parsed spelling, so that a rule for a host cannot be passed by writing it differently.
      return { kind: "reach", resources: [URL.canParse(input.url) ? new URL(input.url).href : input.url] };
    },
    // Loaded when it runs: most runs fetch nothing.
    async execute({ url: address }, { signal }) {
      const { runWebFetch } = await import("../run-web-fetch.ts");
      return await runWebFetch({ address, allowPrivate, maxBytes, timeoutMs, resolve: options.resolve }, signal);
    },
  });
}
