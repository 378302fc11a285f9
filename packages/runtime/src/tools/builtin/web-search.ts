import type { Tool } from "../tool.ts";
import { defineTool, ToolFailure } from "../tool.ts";
import { webSearchFacts } from "./facts.ts";

/** Whatever answers searches: the runtime brings no search engine of its own. */
export type WebSearchBackend = (query: {
  query: string;
  allowedDomains?: string[];
  blockedDomains?: string[];
  signal: AbortSignal;
}) => Promise<{ title: string; url: string; snippet?: string }[]>;

type WebSearchInput = { query: string; allowed_domains?: string[]; blocked_domains?: string[] };

const domains = { type: "array", items: { type: "string", minLength: 1 } };

export function createWebSearchTool(options: { webSearch?: WebSearchBackend } = {}): Tool {
  return defineTool<WebSearchInput>({
    name: "WebSearch",
    description:
      "Searches the web and answers with titles, addresses and short excerpts. Use it for what may have changed since your training; " +
      "read a page it names with WebFetch.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 2, description: "What to search for." },
        allowed_domains: { ...domains, description: "Only results from these domains and their subdomains." },
        blocked_domains: { ...domains, description: "No results from these domains and their subdomains." },
      },
      required: ["query"],
      additionalProperties: false,
    },
    concurrent: true,
    forgives: { needed: [] },
    facts: webSearchFacts,
    async access(input) {
      return { kind: "reach", resources: [input.query] };
    },
    async execute(input, { signal }) {
      if (!options.webSearch) {
        throw new ToolFailure(
          "Web search is not set up here, so do not try it again in this session; go on without it and say so if it matters. " +
            "(For the person who runs this: name a search engine in the settings, webSearch.engine, or pass a search function as the library option `webSearch`.)",
        );
      }
      const results = await options.webSearch({
        query: input.query,
        ...(input.allowed_domains && { allowedDomains: input.allowed_domains }),
        ...(input.blocked_domains && { blockedDomains: input.blocked_domains }),
        signal,
      });
      // A backend may not know how to filter by domain; the answer is held to it all the same.
      const wanted = results.filter((result) => isWanted(result.url, input));
      if (wanted.length === 0) return { content: [{ type: "text", text: `Nothing was found for "${input.query}".` }] };
      const entries = wanted.map(
        ({ title, url, snippet }, index) => `${index + 1}. ${title}\n   ${url}${snippet ? `\n   ${snippet}` : ""}`,
      );
      return { content: [{ type: "text", text: entries.join("\n") }] };
    },
  });
}

function isWanted(url: string, { allowed_domains: allowed, blocked_domains: blocked }: WebSearchInput): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname;
  const isOn = (domain: string): boolean => {
    const name = domain.toLowerCase().replace(/^\*?\./, "");
    return host === name || host.endsWith(`.${name}`);
  };
  if (allowed && allowed.length > 0 && !allowed.some(isOn)) return false;
  return !blocked?.some(isOn);
}
