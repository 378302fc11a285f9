import { nearest } from "../../util/nearest.ts";
import type { CommandHostContext, CommandResult, SystemCommand } from "../command.ts";

/** Commands of Claude Code that are screens of a terminal: whoever types one is told so, and no model is asked what it means. */
const screens: ReadonlySet<string> = new Set(
  [
    [
      "add-dir",
      "agents",
      "bug",
      "chrome",
      "color",
      "config",
      "copy",
      "desktop",
      "diff",
      "doctor",
      "export",
      "extra-usage",
      "fast",
    ],
    ["feedback", "focus", "hooks", "ide", "install-github-app", "install-slack-app", "keybindings", "login", "logout", "mcp"],
    ["mobile", "passes", "privacy-settings", "release-notes", "remote-control", "remote-env", "settings", "status"],
    ["stickers", "terminal-setup", "theme", "tui", "upgrade", "vim", "voice"],
  ].flat(),
);

/** Other names of the built-in commands, as people know them from there. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["new", "clear"],
  ["name", "rename"],
  ["quit", "exit"],
  ["stats", "cost"],
  ["usage", "cost"],
]);

/** People know it from elsewhere, so that it is no mistake. */
export function isKnownElsewhere(name: string): boolean {
  return screens.has(name) || otherNames.has(name);
}

type Typed = { readonly name: string; readonly args: string; readonly context: CommandHostContext };
type Known = { readonly builtin: readonly SystemCommand[]; readonly known: readonly string[] };

/** A name that is not ours: one that people know from elsewhere, or a mistake. */
export async function runUnknown({ name, args, context }: Typed, { builtin, known }: Known): Promise<CommandResult> {
  const other = builtin.find((command) => command.name === otherNames.get(name));
  if (other) return await other.execute(context, args);
  if (screens.has(name)) return { success: true, message: `/${name} isn't available in this environment.` };
  const guess = nearest(name, known);
  const hint = guess === undefined ? "/help lists what there is." : `Did you mean /${guess}?`;
  return { success: false, message: `Unknown command "/${name}". ${hint} With a space in front it is a prompt.` };
}
