import { aboutSubcommands } from "../../flags/about-subcommands.ts";
import { type Flag, flags } from "../../flags/flags.ts";

/** What can be completed: a flag that is refused is not offered. */
export const offeredFlags: readonly Flag[] = (flags as readonly Flag[]).filter(({ refused }) => refused === undefined);

export const offeredCommands: readonly (readonly [
  name: string,
  about: (typeof aboutSubcommands)[keyof typeof aboutSubcommands],
])[] = Object.entries(aboutSubcommands);

export type ValueKind = "choices" | "file" | "folder" | "text";

export function valueKind({ choices, placeholder = "" }: Flag): ValueKind {
  if (choices) return "choices";
  if (/\bDIR\b/.test(placeholder)) return "folder";
  return /\bFILE\b/.test(placeholder) ? "file" : "text";
}

/** The first sentence, without signs a shell would read in a quoted text. */
export function shortHelp(help: string): string {
  return (help.split(/[.;:(]/)[0] ?? "").replace(/['"`$\\[\]]/g, "").trim();
}
