import type { SystemCommand } from "../command.ts";

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
    [
      "mobile",
      "output-style",
      "passes",
      "privacy-settings",
      "release-notes",
      "remote-control",
      "remote-env",
      "settings",
      "status",
    ],
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

/** What a name means that is not ours; undefined for a name nobody knows. */
export function commandOfElsewhere(name: string, builtin: readonly SystemCommand[]): SystemCommand | undefined {
  const other = otherNames.get(name);
  if (other !== undefined) return builtin.find((command) => command.name === other);
  if (!screens.has(name)) return undefined;
  const message = `/${name} isn't available in this environment.`;
  return { name, description: "", execute: () => ({ success: true, message }) };
}
