export const flagGroups = [
  "Prompt",
  "Output",
  "Model",
  "Limits",
  "Permissions",
  "Settings",
  "MCP and agents",
  "Session",
  "Record and replay",
  "Other",
] as const;

/** Every flag of the command, once: the parser, the help text and the suggestions all read this list. What is said about each is in `flag-help.ts`, which a run does not load. */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** `switch` takes no value, `value` takes one, `optional` takes the next word if it fits `filter`, `list` takes rules until the next flag, `words` takes one value each time it is given. */
  readonly kind: "switch" | "value" | "optional" | "list" | "words";
  /** Of `words`: as Claude Code's, it takes the words behind it too, where the prompt stands elsewhere. */
  readonly variadic?: true;
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  /** Other values than those are judged by who reads the flag. */
  readonly open?: true;
  /** What may follow: the value of an `optional` flag. What follows a switch as Claude Code's has it changes nothing here. */
  readonly filter?: RegExp;
  readonly group: (typeof flagGroups)[number];
  /** Known from Claude Code and not supported here: why, and what to do instead. Refused with these words, and not in the help. */
  readonly refused?: string;
};

export const flags = [
  {
    name: "print",
    short: "p",
    kind: "switch",
    group: "Prompt",
  },
  { name: "prompt", kind: "value", placeholder: "TEXT", group: "Prompt" },
  {
    name: "image",
    kind: "words",
    placeholder: "FILE",
    group: "Prompt",
  },
  {
    name: "pdf",
    kind: "words",
    placeholder: "FILE",
    group: "Prompt",
  },
  {
    name: "input-format",
    kind: "value",
    placeholder: "FORMAT",
    choices: ["text", "stream-json"],
    group: "Prompt",
  },
  {
    name: "replay-user-messages",
    kind: "switch",
    group: "Prompt",
  },
  {
    name: "disable-slash-commands",
    kind: "switch",
    group: "Prompt",
  },
  { name: "cwd", kind: "value", placeholder: "DIR", group: "Prompt" },
  { name: "system-prompt", kind: "value", placeholder: "TEXT", group: "Prompt" },
  { name: "system-prompt-file", kind: "value", placeholder: "FILE", group: "Prompt" },
  { name: "append-system-prompt", kind: "value", placeholder: "TEXT", group: "Prompt" },
  { name: "append-system-prompt-file", kind: "value", placeholder: "FILE", group: "Prompt" },
  {
    name: "output-format",
    kind: "value",
    placeholder: "FORMAT",
    choices: ["text", "json", "stream-json", "atif-jsonl"],
    group: "Output",
  },
  {
    name: "flavor",
    kind: "value",
    placeholder: "NAME",
    choices: ["claude", "caliban", "robota"],
    group: "Output",
  },
  {
    name: "include-partial-messages",
    kind: "switch",
    group: "Output",
  },
  {
    name: "forward-subagent-text",
    kind: "switch",
    group: "Output",
  },
  {
    name: "include-hook-events",
    kind: "switch",
    group: "Output",
  },
  {
    name: "verbose",
    kind: "switch",
    group: "Output",
  },
  {
    name: "no-ci-report",
    kind: "switch",
    group: "Output",
  },
  { name: "quiet", short: "q", kind: "switch", group: "Output" },
  {
    name: "model",
    short: "m",
    kind: "value",
    placeholder: "MODEL",
    group: "Model",
  },
  {
    name: "provider",
    kind: "value",
    placeholder: "NAME",
    group: "Model",
  },
  {
    name: "fallback-model",
    kind: "value",
    placeholder: "MODEL",
    group: "Model",
  },
  {
    name: "effort",
    kind: "value",
    placeholder: "LEVEL",
    choices: ["minimal", "low", "medium", "high", "xhigh", "max"],
    open: true,
    group: "Model",
  },
  {
    name: "max-thinking-tokens",
    kind: "value",
    placeholder: "TOKENS",
    group: "Model",
  },
  {
    name: "thinking",
    kind: "value",
    placeholder: "TOKENS",
    group: "Model",
  },
  { name: "max-tokens", kind: "value", placeholder: "N", group: "Model" },
  { name: "temperature", kind: "value", placeholder: "T", group: "Model" },
  {
    name: "json-schema",
    kind: "value",
    placeholder: "FILE|JSON",
    group: "Output",
  },
  {
    name: "max-turns",
    kind: "value",
    placeholder: "N",
    group: "Limits",
  },
  {
    name: "max-requests",
    kind: "value",
    placeholder: "N",
    group: "Limits",
  },
  {
    name: "loop-note",
    kind: "value",
    placeholder: "N",
    group: "Limits",
  },
  {
    name: "loop-stop",
    kind: "value",
    placeholder: "N",
    group: "Limits",
  },
  {
    name: "max-budget-usd",
    kind: "value",
    placeholder: "USD",
    group: "Limits",
  },
  {
    name: "allow-unknown-price",
    kind: "switch",
    group: "Limits",
  },
  {
    name: "deadline",
    kind: "value",
    placeholder: "TIME",
    group: "Limits",
  },
  {
    name: "background-wait",
    kind: "value",
    placeholder: "TIME",
    group: "Limits",
  },
  {
    name: "record",
    kind: "value",
    placeholder: "FILE",
    group: "Record and replay",
  },
  {
    name: "replay",
    kind: "value",
    placeholder: "FILE|ID",
    group: "Record and replay",
  },
  { name: "replay-lenient", kind: "switch", group: "Record and replay" },
  {
    name: "permission-mode",
    kind: "value",
    placeholder: "MODE",
    choices: ["plan", "default", "manual", "acceptEdits", "auto", "dontAsk", "sandboxed", "bypassPermissions"],
    group: "Permissions",
  },
  {
    name: "allowedTools",
    aliases: ["allowed-tools"],
    kind: "list",
    placeholder: "RULE…",
    group: "Permissions",
  },
  {
    name: "allow",
    kind: "words",
    placeholder: "PRESET",
    group: "Permissions",
  },
  {
    name: "disallowedTools",
    aliases: ["disallowed-tools"],
    kind: "list",
    placeholder: "RULE…",
    group: "Permissions",
  },
  {
    name: "tools",
    kind: "list",
    placeholder: "TOOL…",
    group: "Permissions",
  },
  {
    name: "permission-prompt-tool",
    kind: "value",
    placeholder: "stdio|TOOL",
    group: "Permissions",
  },
  {
    name: "permission-prompts",
    kind: "value",
    placeholder: "WHO",
    choices: ["host", "none"],
    group: "Permissions",
  },
  {
    name: "add-dir",
    kind: "words",
    variadic: true,
    placeholder: "DIR",
    group: "Permissions",
  },
  {
    name: "allow-network-reads",
    kind: "switch",
    group: "Permissions",
  },
  {
    name: "sandbox",
    kind: "value",
    placeholder: "MODE",
    choices: ["auto", "require", "off"],
    group: "Permissions",
  },
  {
    name: "pass-env",
    kind: "words",
    placeholder: "NAME",
    group: "Permissions",
  },
  {
    name: "dangerously-skip-permissions",
    kind: "switch",
    group: "Permissions",
  },
  {
    name: "allow-dangerously-skip-permissions",
    kind: "switch",
    group: "Permissions",
  },
  {
    name: "settings",
    kind: "value",
    placeholder: "FILE|JSON",
    group: "Settings",
  },
  {
    name: "setting-sources",
    kind: "value",
    placeholder: "LIST",
    group: "Settings",
  },
  {
    name: "trust-project",
    kind: "switch",
    group: "Settings",
  },
  {
    name: "bare",
    aliases: ["safe-mode"],
    kind: "switch",
    group: "Settings",
  },
  {
    name: "system-prompt-snapshot",
    kind: "value",
    placeholder: "off",
    choices: ["off"],
    group: "Settings",
  },
  { name: "no-chrome", kind: "switch", group: "Settings" },
  { name: "init", kind: "switch", group: "Settings" },
  { name: "init-only", kind: "switch", group: "Settings" },
  { name: "maintenance", kind: "switch", group: "Settings" },
  {
    name: "mcp-config",
    kind: "words",
    variadic: true,
    placeholder: "FILE|JSON",
    group: "MCP and agents",
  },
  { name: "strict-mcp-config", kind: "switch", group: "MCP and agents" },
  {
    name: "mcp-timeout",
    kind: "value",
    placeholder: "TIME",
    group: "MCP and agents",
  },
  { name: "require-mcp", kind: "switch", group: "MCP and agents" },
  {
    name: "agents",
    kind: "value",
    placeholder: "JSON",
    group: "MCP and agents",
  },
  {
    name: "agent",
    kind: "value",
    placeholder: "NAME",
    group: "MCP and agents",
  },
  {
    name: "await-initialize",
    kind: "switch",
    group: "MCP and agents",
  },
  {
    name: "trajectory",
    kind: "value",
    placeholder: "FILE",
    group: "Record and replay",
  },
  {
    name: "report",
    kind: "value",
    placeholder: "FILE",
    group: "Record and replay",
  },
  {
    name: "load-trajectory",
    kind: "value",
    placeholder: "FILE",
    group: "Record and replay",
  },
  {
    name: "atif-version",
    kind: "value",
    placeholder: "VERSION",
    choices: ["1.4", "1.7", "1.8"],
    group: "Record and replay",
  },
  { name: "session-id", kind: "value", placeholder: "ID", group: "Session" },
  {
    name: "resume",
    short: "r",
    kind: "value",
    placeholder: "ID|NAME",
    group: "Session",
  },
  {
    name: "continue",
    short: "c",
    kind: "switch",
    group: "Session",
  },
  {
    name: "fork-session",
    kind: "switch",
    group: "Session",
  },
  {
    name: "resume-session-at",
    kind: "value",
    placeholder: "EVENT",
    group: "Session",
  },
  { name: "name", short: "n", kind: "value", placeholder: "NAME", group: "Session" },
  {
    name: "worktree",
    short: "w",
    kind: "optional",
    placeholder: "NAME",
    filter: /^[A-Za-z0-9][\w.-]{0,63}$/,
    group: "Session",
  },
  { name: "no-session-persistence", kind: "switch", group: "Session" },
  {
    name: "debug",
    kind: "switch",
    filter: /^!?(?:api|hooks|mcp|file|1p|statsig)(?:,!?\w+)*$/,
    group: "Other",
  },
  { name: "debug-file", kind: "value", placeholder: "FILE", group: "Other" },
  {
    name: "betas",
    kind: "value",
    placeholder: "LIST",
    group: "Model",
  },
  {
    name: "task-budget",
    kind: "value",
    placeholder: "TOKENS",
    group: "Limits",
  },
  {
    name: "thinking-display",
    kind: "value",
    placeholder: "HOW",
    choices: ["summarized", "omitted"],
    group: "Model",
  },
  {
    name: "session-mirror",
    kind: "switch",
    group: "Session",
  },
  {
    name: "project-config-root",
    kind: "value",
    placeholder: "DIR",
    group: "Settings",
    refused: "settings come from the folder of the project itself; --settings and --setting-sources choose others",
  },
  {
    name: "managed-settings",
    kind: "value",
    placeholder: "JSON",
    group: "Settings",
  },
  {
    name: "plugin-dir",
    kind: "words",
    placeholder: "DIR",
    group: "MCP and agents",
  },
  {
    name: "plugin-dir-no-mcp",
    kind: "words",
    placeholder: "DIR",
    group: "MCP and agents",
  },
  {
    name: "plugin-url",
    kind: "words",
    placeholder: "URL",
    group: "MCP and agents",
  },
  {
    name: "resume-drops-turn",
    kind: "value",
    placeholder: "TURN",
    group: "Session",
  },
  { name: "version", short: "v", kind: "switch", group: "Other" },
  { name: "help", short: "h", kind: "switch", group: "Other" },
] as const satisfies readonly Flag[];

type Declared = (typeof flags)[number];
export type FlagName = Declared["name"];
type NamesOf<K extends Flag["kind"]> = Extract<Declared, { kind: K }>["name"];

export type FlagValues = { [N in NamesOf<"switch">]?: true } & { [N in NamesOf<"value">]?: string } & {
  [N in NamesOf<"optional">]?: true | string;
} & {
  [N in NamesOf<"list" | "words">]?: string[];
};
