import { existsSync } from "node:fs";
import { type CommandSummary, parseCommand, type SystemCommand } from "../../commands/command.ts";
import { builtinCommands, builtinPrompts } from "../../commands/builtin/builtin-commands.ts";
import type { Skill } from "../../commands/skills/skill.ts";
import type { ServerPrompt } from "../../tools/mcp/server-prompt.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { defined } from "../../util/defined.ts";
import type { SessionOptions } from "../session-options.ts";
import { SessionSkills } from "../skills/session-skills.ts";

export type CommandCall = { readonly type: "command"; readonly command: SystemCommand; readonly args: string } & {
  /** A person's when absent. */
  readonly invokedBy?: "user" | "model";
  /** Nobody here knows the name: unless people know it from elsewhere, it is a prompt like any other. */
  readonly mayBeText?: true;
};

export type SkillWords = { readonly type: "skill"; readonly skill: Skill; readonly args: string };

/** `/agent run NAME PROMPT`; with `parallel` one such to a line, or between `;;`. */
export type AgentCall = { readonly type: "agent"; readonly action: string; readonly args: string };

export type ServerPromptCall = { readonly type: "server-prompt"; readonly prompt: ServerPrompt; readonly args: string };

/** A prompt that every session knows by its name. */
export type BuiltinPromptCall = { readonly type: "builtin-prompt"; readonly name: string; readonly args: string };

/** What a prompt that begins with a slash is: something for the session, a text from a file or of a server, or a mistake. */
export type Called = CommandCall | SkillWords | ServerPromptCall | BuiltinPromptCall | AgentCall;

export type CommandOptions = Pick<SessionOptions, "commands" | "commandModules" | "slashCommands" | "serverPrompts" | "memory">;

/** The commands of a session, by what a prompt begins with: those of its options, those in files, and the ones that every session has. */
export class SessionCommands {
  readonly #own: readonly SystemCommand[];
  readonly #builtin: readonly SystemCommand[];
  readonly #skills: SessionSkills;
  readonly #prompts: SessionOptions["serverPrompts"];
  readonly #memory: SessionOptions["memory"];
  readonly #isOff: boolean;
  readonly #isLenient: boolean;

  constructor(
    { commands = [], commandModules = [], slashCommands = true, serverPrompts, memory }: CommandOptions = {},
    skills: SessionSkills = new SessionSkills(undefined),
  ) {
    this.#own = [...commands, ...commandModules.flatMap(({ systemCommands = [] }) => systemCommands)];
    this.#builtin = builtinCommands;
    this.#memory = memory;
    this.#skills = skills;
    this.#prompts = serverPrompts;
    this.#isOff = slashCommands === false;
    this.#isLenient = slashCommands === "known";
  }

  get(name: string): SystemCommand | undefined {
    return [...this.#own, ...this.#builtin].find((command) => command.name === name);
  }

  /**
   * The one rule for `/words` at the start of a prompt: a command or a skill of that name, or a mistake. A path is a prompt like any other.
   * Of several blocks the last one may call a text that is written down, which then stands behind the others.
   */
  called({ content, isVerbatim }: UserMessage): Called | undefined {
    const last = content.at(-1);
    if (this.#isOff || isVerbatim || last?.type !== "text") return undefined;
    const words = parseCommand(last.text);
    const called = words && this.#find(words);
    return content.length === 1 || (called?.type !== "command" && called?.type !== "agent") ? called : undefined;
  }

  #find({ name, args }: { readonly name: string; readonly args: string }): Called | undefined {
    const own = this.#own.find((command) => command.name === name && command.userInvocable !== false);
    if (own) return { type: "command", command: own, args };
    const skill = this.#skills.get(name);
    if (skill) return { type: "skill", skill, args };
    const named = name === "skills" ? this.#namedSkill(args) : undefined;
    if (named) return named;
    const [, action, task] = (name === "agent" && /^(run|parallel)\s+(\S+\s+.+)$/s.exec(args)) || [];
    if (action !== undefined && task !== undefined) return { type: "agent", action, args: task };
    const command = this.#builtin.find((known) => known.name === name);
    if (command) return { type: "command", command, args };
    if (builtinPrompts.some((known) => known.name === name)) return { type: "builtin-prompt", name, args };
    const prompt = this.#prompts?.list().find((known) => known.command === name);
    if (prompt) return { type: "server-prompt", prompt, args };
    const unqualified = this.#skills.getUnqualified(name);
    if (unqualified) return { type: "skill", skill: unqualified, args };
    if (isFolder(name)) return undefined;
    return { type: "command", command: this.#unknown(name), args, ...(this.#isLenient && { mayBeText: true }) };
  }

  /** `/skills NAME ARGUMENTS` is `/NAME ARGUMENTS`. */
  #namedSkill(words: string): Called | undefined {
    const [, name = "", args = ""] = /^(\S+)(?:\s+(.*))?$/s.exec(words) ?? [];
    const skill = this.#skills.get(name) ?? this.#skills.getUnqualified(name);
    return skill && { type: "skill", skill, args };
  }

  get serverPrompts(): SessionOptions["serverPrompts"] {
    return this.#prompts;
  }

  /** The commands that models may run too: those of the program, and the project's memory where it has one. */
  get projected(): readonly SystemCommand[] {
    const own = this.#own.filter(({ modelInvocable }) => modelInvocable);
    const memory = this.#memory?.isOffered ? this.#builtin.find(({ name }) => name === "memory") : undefined;
    if (!memory || own.some(({ name }) => name === memory.name)) return own;
    return [...own, { ...memory, modelInvocable: true, safety: "read" }]; // what it adds waits for a person
  }

  /** What a prompt may begin with, in the order in which people are shown it. */
  list(): CommandSummary[] {
    if (this.#isOff) return [];
    const summaries = [
      ...this.#own.filter(({ userInvocable }) => userInvocable !== false).map((command) => summaryOf(command)),
      ...this.#skills.typed.map((skill) => ({ ...summaryOf(skill), isWritten: true as const })),
      ...[...this.#builtin, ...builtinPrompts].map((command) => summaryOf(command)),
      ...(this.#prompts?.list() ?? []).map(promptSummary),
    ];
    return [...new Map(summaries.toReversed().map((summary) => [summary.name, summary])).values()].reverse();
  }

  /** What it is, or what is meant, is looked up when it runs: few prompts are mistakes. */
  #unknown(name: string): SystemCommand {
    const builtin = this.#builtin;
    const known = (): string[] => this.list().map((command) => command.name);
    return {
      name,
      description: "",
      async execute(context, args) {
        const { runUnknown } = await import("../../commands/builtin/terminal-commands.ts");
        return await runUnknown({ name, args, context }, { builtin, known: known() });
      },
    };
  }
}

type Named = { readonly name: string; readonly description: string; readonly argumentHint?: string | undefined };

function summaryOf({ name, description, argumentHint }: Named): CommandSummary {
  return { name, description, ...defined({ argumentHint }) };
}

function promptSummary({ command, description, server, arguments: wanted }: ServerPrompt): CommandSummary {
  const argumentHint = wanted.map(({ name, required }) => (required ? name : `[${name}]`)).join(" ") || undefined;
  return { name: command, description: description ?? `A prompt of the MCP server ${server}`, ...defined({ argumentHint }) };
}

/** `/tmp is full` speaks of a folder of this machine. */
function isFolder(name: string): boolean {
  return !name.includes(":") && existsSync(`/${name}`);
}

export function listCommands(options?: CommandOptions & Pick<SessionOptions, "skills">): CommandSummary[] {
  return new SessionCommands(options, new SessionSkills(options?.skills)).list();
}
