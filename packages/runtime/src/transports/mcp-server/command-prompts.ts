import type { CommandSummary } from "../../commands/command.ts";
import { RuntimeError } from "../../protocol/errors.ts";

type ListedPrompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: false }[];
};

/** Commands of sessions as prompts of the server: each has the words that may follow it as its one argument. */
export function toPrompts(commands: readonly CommandSummary[]): ListedPrompt[] {
  return commands.map(({ name, description, argumentHint }) => ({
    name,
    description,
    arguments: [{ name: "args", description: argumentHint ?? "What follows the command", required: false }],
  }));
}

/** What the model of the client is told, so that the agent runs the command. */
export function toPromptText(commands: readonly CommandSummary[], name: string, args: string): string {
  const command = commands.find((one) => one.name === name);
  if (!command) throw new RuntimeError("not-found", `There is no prompt ${name}`);
  const words = args.trim() === "" ? `/${name}` : `/${name} ${args.trim()}`;
  return [
    `Have the Outrider agent run this command: ${words}`,
    `Call the tool reply with the sessionId of the session it is for and the prompt ${JSON.stringify(words)}; without a session, call the tool run with that prompt.`,
  ].join("\n");
}
