import { describeEnvironment, type EnvironmentFacts } from "./environment.ts";
import { answer, care, commands, editing, git, role, tools, working } from "./prompt-texts.ts";
import { describeSession, type SessionLines } from "./session-lines.ts";

export type PartName =
  | "role"
  | "working"
  | "tools"
  | "commands"
  | "editing"
  | "git"
  | "answer"
  | "environment"
  | "session"
  | "language"
  | "instructions"
  | "memory"
  | "tasks"
  | "skills"
  | "style"
  | "appended"
  | "given";

export type PromptPart = { readonly name: PartName; readonly text: string };

export type SystemPromptFacts = {
  /** A block that was stored stays as it is. */
  readonly environment: EnvironmentFacts | string;
  readonly session: SessionLines;
  /** What the tools of the session do, whichever of them its mode offers. */
  readonly offers: { readonly any: boolean; readonly edits: boolean; readonly runs: boolean };
  /** What the user wants answers to be written in. */
  readonly language?: string | undefined;
  /** A style of the user's says how to work on code, and how to answer. */
  readonly isStyled?: boolean | undefined;
  /** The conversation is an agent: its own prompt says how to work. */
  readonly agent?: string | undefined;
};

/** What every session tells the model first. What differs from session to session comes last, for caches. */
export function promptParts({
  environment,
  session,
  offers,
  language,
  isStyled = false,
  agent,
}: SystemPromptFacts): PromptPart[] {
  const words = language?.replace(/\s+/g, " ").trim();
  const parts: (PromptPart | false | "" | undefined)[] = [
    ...(agent === undefined ? ownParts(offers, isStyled) : [{ name: "given" as const, text: agent }]),
    { name: "environment", text: typeof environment === "string" ? environment : describeEnvironment(environment) },
    { name: "session", text: describeSession(session) },
    words && { name: "language", text: `Response language: ${words}` },
  ];
  return parts.filter((part) => typeof part === "object");
}

function ownParts(offers: SystemPromptFacts["offers"], isStyled: boolean): (PromptPart | false)[] {
  return [
    { name: "role", text: role },
    { name: "working", text: isStyled ? care : working },
    offers.any && { name: "tools", text: tools },
    offers.runs && { name: "commands", text: commands },
    offers.edits && { name: "editing", text: editing },
    offers.runs && { name: "git", text: git },
    !isStyled && { name: "answer", text: answer },
  ];
}

export function joinParts(parts: readonly PromptPart[]): string {
  return parts
    .map(({ text }) => text)
    .filter(Boolean)
    .join("\n\n");
}
