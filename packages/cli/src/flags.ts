export const flagGroups = [
  "Prompt",
  "Output",
  "Model",
  "Limits",
  "Permissions",
  "Settings",
  "Session",
  "Record and replay",
  "Other",
] as const;

/** Every flag of the command, once: the parser, the help text and the suggestions all read this list. */
export type Flag = {
  readonly name: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** `switch` takes no value, `value` takes one, `list` takes rules until the next flag, `words` takes one value each time it is given. */
  readonly kind: "switch" | "value" | "list" | "words";
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly group: (typeof flagGroups)[number];
  readonly help: string;
};

export const flags = [
  {
    name: "print",
    short: "p",
    kind: "switch",
    group: "Prompt",
    help: "Run one prompt and exit; that is what a prompt does anyway",
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
  {
    name: "include-hook-events",
    kind: "switch",
    group: "Output",
    help: "stream-json: frames for every run of a hook",
  },
  { name: "verbose", kind: "switch", group: "Output", help: "Say on stderr what happens, also when it is no terminal" },
  {
    name: "no-ci-report",
    kind: "switch",
    group: "Output",
    help: "In GitHub Actions and GitLab: no summary, outputs, annotations and folds",
  },
  { name: "quiet", short: "q", kind: "switch", group: "Output", help: "No progress on stderr, only errors" },
  {
    name: "model",
    short: "m",
    kind: "value",
    placeholder: "MODEL",
    group: "Model",
    help: "The model to ask; PROVIDER/MODEL names both",
  },
  {
    name: "provider",
    kind: "value",
    placeholder: "NAME",
    group: "Model",
    help: "A provider or a profile of your settings (outrider providers list); scripted with --model FILE answers from a JSON list of replies",
  },
  {
    name: "fallback-model",
    kind: "value",
    placeholder: "MODEL",
    group: "Model",
    help: "Ask this one when the provider stays overloaded or out of reach",
  },
  {
    name: "effort",
    kind: "value",
    placeholder: "LEVEL",
    choices: ["minimal", "low", "medium", "high"],
    group: "Model",
    help: "How hard the model should think: minimal, low, medium, high",
  },
  {
    name: "thinking",
    kind: "value",
    placeholder: "TOKENS",
    group: "Model",
    help: "Let the model think with up to this many tokens",
  },
  { name: "max-tokens", kind: "value", placeholder: "N", group: "Model", help: "Tokens of one answer" },
  { name: "temperature", kind: "value", placeholder: "T", group: "Model", help: "0 to 2" },
  {
    name: "json-schema",
    kind: "value",
    placeholder: "FILE|JSON",
    group: "Output",
    help: "The answer must fit this JSON Schema; it is in structured_output of the result, or exit code 2",
  },
  {
    name: "max-turns",
    kind: "value",
    placeholder: "N",
    group: "Limits",
    help: "Ask the model at most N times, then stop with exit code 75",
  },
  {
    name: "max-budget-usd",
    kind: "value",
    placeholder: "USD",
    group: "Limits",
    help: "Stop before the next model call once more than this is spent, with exit code 137",
  },
  {
    name: "allow-unknown-price",
    kind: "switch",
    group: "Limits",
    help: "Keep a budget although the price of the model is not known",
  },
  {
    name: "deadline",
    kind: "value",
    placeholder: "TIME",
    group: "Limits",
    help: "End the run after TIME (90s, 15m, 2h), with a result and exit code 124",
  },
  {
    name: "record",
    kind: "value",
    placeholder: "FILE",
    group: "Record and replay",
    help: "Write the model's answers to FILE, free of keys and of this machine's paths",
  },
  {
    name: "replay",
    kind: "value",
    placeholder: "FILE|ID",
    group: "Record and replay",
    help: "Answer from a recording or a session instead of a model; exit code 65 when a request differs",
  },
  { name: "replay-lenient", kind: "switch", group: "Record and replay", help: "Say what differs and go on" },
  {
    name: "permission-mode",
    kind: "value",
    placeholder: "MODE",
    choices: ["plan", "default", "acceptEdits", "dontAsk", "bypassPermissions"],
    group: "Permissions",
    help: "plan (look only), default (look; the rest by rule), acceptEdits (also change files of the project), dontAsk (as default, never ask), bypassPermissions (everything)",
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
  {
    name: "add-dir",
    kind: "words",
    placeholder: "DIR",
    group: "Permissions",
    help: "Another folder that belongs to the work; may be given several times",
  },
  {
    name: "sandbox",
    kind: "value",
    placeholder: "MODE",
    choices: ["auto", "require", "off"],
    group: "Permissions",
    help: "Commands run in a box without network and home: auto (where bubblewrap works), require (or not at all), off",
  },
  {
    name: "dangerously-skip-permissions",
    kind: "switch",
    group: "Permissions",
    help: "Start in mode bypassPermissions: everything is allowed but what a rule denies",
  },
  {
    name: "allow-dangerously-skip-permissions",
    kind: "switch",
    group: "Permissions",
    help: "Let --permission-mode or the host choose bypassPermissions",
  },
  {
    name: "settings",
    kind: "value",
    placeholder: "FILE|JSON",
    group: "Settings",
    help: "Settings over those of all files (outrider config shows what holds)",
  },
  {
    name: "setting-sources",
    kind: "value",
    placeholder: "LIST",
    group: "Settings",
    help: 'Which files count: user,project,local (the default), or "" for none',
  },
  {
    name: "trust-project",
    kind: "switch",
    group: "Settings",
    help: "For this run, let the project's own hooks, servers, variables and allow rules count",
  },
  {
    name: "bare",
    kind: "switch",
    group: "Settings",
    help: "No hooks, MCP servers, agents or instruction files: the same on every machine",
  },
  { name: "session-id", kind: "value", placeholder: "ID", group: "Session", help: "Store the session under this new id" },
  {
    name: "resume",
    short: "r",
    kind: "value",
    placeholder: "ID|NAME",
    group: "Session",
    help: "Go on with a stored session (outrider sessions list)",
  },
  {
    name: "continue",
    short: "c",
    kind: "switch",
    group: "Session",
    help: "Go on with the latest session of this folder",
  },
  {
    name: "fork-session",
    kind: "switch",
    group: "Session",
    help: "With --resume or --continue: in a copy under a new id, the original stays as it is",
  },
  {
    name: "resume-session-at",
    kind: "value",
    placeholder: "EVENT",
    group: "Session",
    help: "With --fork-session: only what came up to this event (its number, or the uuid of an assistant frame)",
  },
  { name: "name", short: "n", kind: "value", placeholder: "NAME", group: "Session", help: "Give the session a name" },
  { name: "no-session-persistence", kind: "switch", group: "Session", help: "Keep no journal on disk" },
  { name: "version", short: "v", kind: "switch", group: "Other", help: "Print the version" },
  { name: "help", short: "h", kind: "switch", group: "Other", help: "Print this help" },
] as const satisfies readonly Flag[];

type Declared = (typeof flags)[number];
export type FlagName = Declared["name"];
type NamesOf<K extends Flag["kind"]> = Extract<Declared, { kind: K }>["name"];

export type FlagValues = { [N in NamesOf<"switch">]?: true } & { [N in NamesOf<"value">]?: string } & {
  [N in NamesOf<"list" | "words">]?: string[];
};
