/** Every flag of the command, once: the parser, the help text and the suggestions all read this list. */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** `switch` takes no value, `value` takes one, `list` takes words until the next flag. */
  readonly kind: "switch" | "value" | "list";
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly group: "Prompt" | "Output" | "Model" | "Permissions" | "Session" | "Other";
  readonly help: string;
};

export const flags = [
  {
    name: "print",
    short: "p",
    kind: "switch",
    group: "Prompt",
    help: "Run one prompt and exit. Implied when stdin or stdout is no terminal",
  },
  { name: "cwd", kind: "value", placeholder: "DIR", group: "Prompt", help: "Work in DIR instead of the current directory" },
  { name: "system-prompt", kind: "value", placeholder: "TEXT", group: "Prompt", help: "Replace the system prompt" },
  { name: "append-system-prompt", kind: "value", placeholder: "TEXT", group: "Prompt", help: "Add TEXT to the system prompt" },
  {
    name: "output-format",
    kind: "value",
    placeholder: "FORMAT",
    choices: ["text", "json", "stream-json"],
    group: "Output",
    help: "text (the answer), json (one result object), stream-json (one JSON object per line as it happens)",
  },
  { name: "verbose", kind: "switch", group: "Output", help: "Say on stderr what happens, also when it is no terminal" },
  { name: "quiet", short: "q", kind: "switch", group: "Output", help: "No progress on stderr, only errors" },
  { name: "model", short: "m", kind: "value", placeholder: "MODEL", group: "Model", help: "The model to ask" },
  {
    name: "provider",
    kind: "value",
    placeholder: "NAME",
    group: "Model",
    help: "anthropic, or scripted (with --model FILE: a JSON list of replies)",
  },
  {
    name: "max-turns",
    kind: "value",
    placeholder: "N",
    group: "Model",
    help: "Ask the model at most N times, then stop with exit code 75",
  },
  {
    name: "permission-mode",
    kind: "value",
    placeholder: "MODE",
    choices: ["plan", "default", "acceptEdits", "bypassPermissions"],
    group: "Permissions",
    help: "plan (look only), default (look; the rest by rule), acceptEdits (also change files of the project), bypassPermissions (everything)",
  },
  {
    name: "allowedTools",
    aliases: ["allowed-tools"],
    kind: "list",
    placeholder: "RULE…",
    group: "Permissions",
    help: 'What may run without asking: Edit "Bash(npm test:*)" "Read(//etc/hosts)" "WebFetch(domain:example.org)"',
  },
  {
    name: "disallowedTools",
    aliases: ["disallowed-tools"],
    kind: "list",
    placeholder: "RULE…",
    group: "Permissions",
    help: "What may never run; a bare tool name takes the tool away",
  },
  { name: "session-id", kind: "value", placeholder: "ID", group: "Session", help: "Store the session under this new id" },
  { name: "no-session-persistence", kind: "switch", group: "Session", help: "Keep no journal on disk" },
  { name: "version", short: "v", kind: "switch", group: "Other", help: "Print the version" },
  { name: "help", short: "h", kind: "switch", group: "Other", help: "Print this help" },
] as const satisfies readonly Flag[];

type Declared = (typeof flags)[number];
export type FlagName = Declared["name"];
type NamesOf<K extends Flag["kind"]> = Extract<Declared, { kind: K }>["name"];

export type FlagValues = { [N in NamesOf<"switch">]?: true } & { [N in NamesOf<"value">]?: string } & {
  [N in NamesOf<"list">]?: string[];
};
