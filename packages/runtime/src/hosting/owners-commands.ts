import type { CommandResult } from "../commands/command.ts";

/** What is typed behind these commands and only looks. */
const looks: Readonly<Record<OwnersCommand, RegExp>> = {
  plugins: /^(?:|list|marketplace(?: list| search .*)?)$/,
  userLocal: /^(?:storage|memory) list$/,
  providerSettings: /^(?:|list)$/,
  outputStyle: /^$/,
  language: /^$/,
};

export type OwnersCommand = "plugins" | "userLocal" | "providerSettings" | "outputStyle" | "language";

/**
 * The answer to a command that anybody may have typed, if it would change what holds beyond the session. Programs pass on the words of others
 * as prompts, and a command does not know who typed it.
 */
export function refuseToAnybody(command: OwnersCommand, args: string): CommandResult | undefined {
  if (looks[command].test(args.trim())) return undefined;
  const message =
    "This changes what holds beyond the session, so a prompt cannot do it: use the command outrider, or a conversation at a terminal";
  return { success: false, message };
}
