import { aboutSubcommands } from "../../flags/about-subcommands.ts";
import type { Flag } from "../../flags/flags.ts";

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
