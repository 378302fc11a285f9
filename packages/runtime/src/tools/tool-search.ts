import { defineTool, type Tool, ToolFailure } from "./tool.ts";

/** Roughly how many characters of a schema make a token. */
const charactersPerToken = 4;
const maxNamesListed = 600;
const defaultResults = 5;
const mostResults = 20;

/** What the definitions of tools take of every request. */
function tokensOf(tools: readonly Pick<Tool, "name" | "description" | "inputSchema">[]): number {
  const characters = tools.reduce(
    (sum, { name, description, inputSchema }) => sum + name.length + description.length + JSON.stringify(inputSchema).length,
    0,
  );
  return Math.ceil(characters / charactersPerToken);
}

/**
 * Tools that would take more than so many tokens of every request are named only, in the tool that loads them. Called all the same, a tool that
 * was not loaded runs.
 */
export function withToolSearch(tools: readonly Tool[], aboveTokens: number): Tool[] {
  if (tokensOf(tools) <= aboveTokens) return [...tools];
  const waiting = tools.filter(({ alwaysShown }) => !alwaysShown).map((tool) => ({ ...tool, deferred: true as const }));
  const shown = tools.filter(({ alwaysShown }) => alwaysShown);
  return waiting.length === 0 ? shown : [...shown, ...waiting, createToolSearch(waiting.map(({ name }) => name))];
}

function createToolSearch(names: readonly string[]): Tool {
  const listed = names.slice(0, maxNamesListed);
  const rest = names.length - listed.length;
  return defineTool<{ query: string; max_results?: number }>({
    name: "ToolSearch",
    description: [
      "Loads tools that are there and not shown, because there are many. What it finds can be called from your next message on.",
      'query: "select:NAME,NAME" loads these; words find tools by name and description, and a word with + before it must be among them.',
      `The tools that can be loaded:\n${listed.join("\n")}${rest > 0 ? `\nand ${rest} more, found by words` : ""}`,
    ].join("\n"),
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "select:NAME,NAME or words" },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: mostResults,
          description: `At most so many; ${defaultResults} when absent`,
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    concurrent: false,
    comesFromServers: true,
    forgives: {},
    access: async () => ({ kind: "note", resources: [] }),
    async execute({ query, max_results: limit = defaultResults }, { deferredTools }) {
      const all = deferredTools?.list() ?? [];
      const { found, missing } = query.startsWith("select:")
        ? select(all, query.slice(7))
        : { found: search(all, query, limit), missing: [] };
      if (found.length === 0)
        throw new ToolFailure(
          missing.length > 0
            ? `There is no tool ${missing.join(", ")}. Search by words instead.`
            : `No tool fits ${JSON.stringify(query)}. Try other words.`,
        );
      deferredTools?.load(found.map(({ name }) => name));
      const lines = found.map(({ name, description }) => `- ${name}: ${firstSentence(description)}`);
      const lost = missing.length > 0 ? [`Not there: ${missing.join(", ")}`] : [];
      return { content: [{ type: "text", text: ["Loaded; they can be called now:", ...lines, ...lost].join("\n") }] };
    },
  });
}

function select(all: readonly Tool[], names: string): { found: Tool[]; missing: string[] } {
  const wanted = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return {
    found: all.filter(({ name }) => wanted.includes(name)),
    missing: wanted.filter((name) => !all.some((tool) => tool.name === name)),
  };
}

/** The best first: a word in the name counts more than one in the description. */
function search(all: readonly Tool[], query: string, limit: number): Tool[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "" && word !== "+");
  const must = words.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const any = words.map((word) => word.replace(/^\+/, ""));
  const scored = all.flatMap((tool) => {
    const name = tool.name.toLowerCase();
    const description = tool.description.toLowerCase();
    if (!must.every((word) => name.includes(word) || description.includes(word))) return [];
    const score = any.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (description.includes(word) ? 1 : 0), 0);
    return score > 0 ? [{ tool, score }] : [];
  });
  return scored
    .sort((one, other) => other.score - one.score)
    .slice(0, Math.min(limit, mostResults))
    .map(({ tool }) => tool);
}

const maxSentence = 200;

function firstSentence(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.length > maxSentence ? `${line.slice(0, maxSentence)}…` : line;
}
