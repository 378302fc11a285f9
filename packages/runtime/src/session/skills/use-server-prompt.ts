import { splitArguments } from "../../commands/skills/substitute.ts";
import type { SessionDeps } from "../../engine/deps.ts";
import { toOutcome } from "../../engine/turn.ts";
import { noUsage, type UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ServerPrompt, ServerPrompts } from "../../tools/mcp/server-prompt.ts";
import type { ServerPromptCall } from "../prompts/session-commands.ts";
import { commandMarks, type UsedSkill } from "./use-skill.ts";

type Ground = { readonly prompts: ServerPrompts | undefined; readonly deps: SessionDeps; readonly signal: AbortSignal };

/** A prompt that a server has written, filled in with what was typed behind its name. Never throws. */
export async function useServerPrompt({ prompt, args }: ServerPromptCall, { prompts, deps, signal }: Ground): Promise<UsedSkill> {
  try {
    const filled = await prompts?.get(prompt.command, valuesOf(prompt, args), signal);
    const content = (filled ?? []).flatMap((message) => message.content);
    if (content.length === 0)
      throw new RuntimeError("not-found", `The MCP server ${prompt.server} gave no text for /${prompt.command}`);
    const message: UserMessage = { role: "user", content: [commandMarks(prompt.command, args), ...content], isVerbatim: true };
    return { type: "prompt", message, deps, end: () => {} };
  } catch (error) {
    const outcome = toOutcome(error, signal, "");
    return { type: "aside", run: async () => ({ usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0, outcome }) };
  }
}

/** Words in their order, quotes hold some together; the last argument takes what is left. */
function valuesOf({ command, arguments: wanted }: ServerPrompt, args: string): Record<string, string> {
  const words = splitArguments(args);
  const values = wanted.map(
    ({ name }, at) => [name, at === wanted.length - 1 ? words.slice(at).join(" ") : (words[at] ?? "")] as const,
  );
  const missing = wanted.find(({ required }, at) => required && values[at]?.[1] === "");
  if (missing)
    throw new RuntimeError(
      "usage",
      `Missing required argument: ${missing.name}. Usage: /${[command, ...wanted.map(({ name }) => name)].join(" ")}`,
    );
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}
