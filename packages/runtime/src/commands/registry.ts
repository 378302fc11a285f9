import { RuntimeError } from "../protocol/errors.ts";
import { checkValue, needed, shape, text } from "../protocol/kinds.ts";
import type { Command, CommandHostContext, CommandModule, CommandResult, CommandSource, SystemCommand } from "./command.ts";

/** The entries of a palette, from modules and other sources. What a module can execute is listed from that: there is no entry without it. */
export class CommandRegistry {
  readonly #modules: CommandModule[] = [];
  readonly #sources: CommandSource[] = [];

  addModule(module: CommandModule): this {
    checkValue("A module", module, shape({ name: needed(text) }, "an object with a name"));
    this.#modules.push(module);
    return this;
  }

  addSource(source: CommandSource): this {
    this.#sources.push(source);
    return this;
  }

  /** After a reload; added when there is none of that name. */
  replaceSource(name: string, source: CommandSource): this {
    const at = this.#sources.findIndex((known) => known.name === name);
    if (at < 0) this.#sources.push(source);
    else this.#sources[at] = source;
    return this;
  }

  /** All, or those whose names begin like that. The first of a name counts. */
  getCommands(prefix = ""): Command[] {
    const all = [
      ...this.#modules.flatMap((module) => [
        ...(module.systemCommands ?? []).map((command) => toEntry(command, module.name)),
        ...(module.commandSources ?? []).flatMap((source) => source.getCommands()),
      ]),
      ...this.#sources.flatMap((source) => source.getCommands()),
    ];
    return all.filter(({ name }, at) => name.startsWith(prefix) && all.findIndex((other) => other.name === name) === at);
  }

  getSubcommands(name: string): readonly Command[] {
    return this.getCommands().find((command) => command.name === name)?.subcommands ?? [];
  }

  /** `audit` to `my-plugin:audit`, where exactly one plugin has it; null when none has or several have. */
  resolveQualifiedName(name: string): string | null {
    const found = this.getCommands().filter((command) => command.name.endsWith(`:${name}`));
    return found.length === 1 ? (found[0]?.name ?? null) : null;
  }
}

function toEntry({ name, description, argumentHint, subcommands }: SystemCommand, source: string): Command {
  return { name, description, source, ...(argumentHint && { argumentHint }), ...(subcommands && { subcommands }) };
}

/** Runs commands by their names. */
export class SystemCommandExecutor {
  readonly #commands = new Map<string, SystemCommand>();

  constructor(commands: readonly SystemCommand[] = []) {
    for (const command of commands) this.register(command);
  }

  register(command: SystemCommand): void {
    if (this.#commands.has(command.name)) throw new RuntimeError("usage", `There is a command ${command.name} already`);
    this.#commands.set(command.name, command);
  }

  get commands(): readonly SystemCommand[] {
    return [...this.#commands.values()];
  }

  /** Null when there is none of that name. Rejects when the command does. */
  async execute(name: string, context: CommandHostContext, args: string): Promise<CommandResult | null> {
    return (await this.#commands.get(name)?.execute(context, args)) ?? null;
  }
}

/** What a model calls a command; throws when that is no name of a tool. */
export function commandToolName(name: string): string {
  const made = `outrider_command_${name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
  if (made.length <= 64) return made;
  throw new RuntimeError("config", `The command ${name} cannot be a tool: ${made} has more than 64 characters`);
}
