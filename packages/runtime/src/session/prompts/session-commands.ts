import { type CommandSummary, parseCommand, type SystemCommand } from "../../commands/command.ts";
import { compactCommand } from "../../commands/compact.ts";
import { textOf, type UserMessage } from "../../protocol/content.ts";
import { defined } from "../../util/defined.ts";

export type CommandCall = { readonly command: SystemCommand; readonly args: string };

/** The commands of a session, by what a prompt begins with: those of its options, and the ones that every session has. */
export class SessionCommands {
  readonly #commands: readonly SystemCommand[];

  constructor(own: readonly SystemCommand[] = []) {
    this.#commands = [...own, compactCommand];
  }

  get(name: string): SystemCommand | undefined {
    return this.#commands.find((command) => command.name === name);
  }

  /** The one rule for `/words`: they are a command when there is one of that name, and a prompt like any other when not. */
  called({ content, isVerbatim }: UserMessage): CommandCall | undefined {
    const isText = !isVerbatim && content.every(({ type }) => type === "text");
    const words = isText ? parseCommand(textOf(content)) : undefined;
    const command = words && this.get(words.name);
    return command && { command, args: words.args };
  }

  list(): CommandSummary[] {
    return this.#commands.map(({ name, description, argumentHint }) => ({
      name,
      description,
      ...defined({ argumentHint }),
    }));
  }
}

/** For those who describe a session before there is one. */
export function listCommands(own?: readonly SystemCommand[]): CommandSummary[] {
  return new SessionCommands(own).list();
}
