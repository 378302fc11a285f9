import type { JsonValue } from "../protocol/content.ts";
import { permissionModes } from "../protocol/permission.ts";

/** What a value must look like. `provider` is the name of a known provider, `rules` a list of permission rules. */
export type Shape =
  | { readonly type: "boolean" }
  | { readonly type: "text"; readonly choices?: readonly string[]; readonly pattern?: RegExp; readonly expected?: string }
  | { readonly type: "number"; readonly least: number; readonly most: number; readonly whole: boolean }
  | { readonly type: "texts" | "rules" | "object" | "provider" };

/**
 * One key of a settings file. What is said here once is what the reader checks, the merge obeys, `explain` shows and
 * docs/settings.md lists.
 */
export type Setting = {
  /** `*` stands for a name of the user's choosing. */
  readonly key: string;
  readonly shape: Shape;
  /**
   * How the values of several files become one. `replace`: the highest. `unite`: all entries of all lists. `deep`: objects field by field.
   * `collect`: each file's own, side by side.
   */
  readonly merge: "replace" | "unite" | "deep" | "collect";
  /** What counts of a project that nobody has said to trust. */
  readonly untrusted: "ignored" | "counts" | "stricter";
  readonly help: string;
  /** What holds when no file says anything. */
  readonly default?: JsonValue;
  /** It names or starts a program. */
  readonly executes?: true;
  /** With `untrusted: "stricter"`: is the value at least as strict as what holds without it? */
  readonly isStricter?: (value: JsonValue, current: JsonValue | undefined) => boolean;
  /** Why a project may not say this even when it is trusted. */
  readonly notFromProject?: (value: JsonValue) => string | undefined;
};

const boolean: Shape = { type: "boolean" };
const text: Shape = { type: "text" };
const count = (most: number): Shape => ({ type: "number", least: 1, most, whole: true });
const repeats: Shape = { type: "number", least: 0, most: 1000, whole: true };
const milliseconds: Shape = count(2 ** 31 - 1);

/** Loosest first. */
const modesByStrictness = ["bypassPermissions", "sandboxed", "acceptEdits", "default", "dontAsk", "plan"];
export const sandboxModes = ["off", "auto", "require"] as const;

const isLater =
  (order: readonly string[]) =>
  (value: JsonValue, current: JsonValue | undefined): boolean =>
    order.indexOf(String(value)) >= order.indexOf(String(current));
const isLower = (value: JsonValue, current: JsonValue | undefined): boolean =>
  current === undefined || Number(value) <= Number(current);

const ignored = { merge: "replace", untrusted: "ignored" } as const;
const allowList = { shape: { type: "texts" }, merge: "unite", untrusted: "ignored" } as const;
const limit = { shape: count(1_000_000_000), merge: "replace", untrusted: "stricter", isStricter: isLower } as const;

const profileSettings = (at: string, type: readonly Setting[]): readonly Setting[] => [
  ...type,
  { key: `${at}.model`, shape: text, ...ignored, help: "The model to ask; the provider's default when absent" },
  { key: `${at}.apiKey`, shape: text, ...ignored, help: "A key, or `$ENV:NAME` for the variable that holds it" },
  { key: `${at}.baseURL`, shape: text, ...ignored, help: "Another server that speaks the same wire" },
  { key: `${at}.timeout`, shape: milliseconds, ...ignored, help: "Milliseconds the server may be silent" },
  { key: `${at}.contextWindow`, shape: count(2 ** 31 - 1), ...ignored, help: "Tokens the model can see" },
  {
    key: `${at}.options`,
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
    help: "The provider's own options, passed on",
  },
];

export const settingsSchema: readonly Setting[] = [
  {
    key: "permissions.allow",
    shape: { type: "rules" },
    merge: "unite",
    untrusted: "ignored",
    help: "What may run without asking",
  },
  {
    key: "permissions.ask",
    shape: { type: "rules" },
    merge: "unite",
    untrusted: "counts",
    help: "What is asked about although a rule or the mode allows it",
  },
  { key: "permissions.deny", shape: { type: "rules" }, merge: "unite", untrusted: "counts", help: "What may never run" },
  {
    key: "permissions.defaultMode",
    shape: { type: "text", choices: permissionModes },
    merge: "replace",
    untrusted: "stricter",
    isStricter: isLater(modesByStrictness),
    notFromProject: (value) =>
      value === "bypassPermissions" ? "a project cannot turn permissions off, trusted or not" : undefined,
    default: "default",
    help: "The permission mode without `--permission-mode`; `bypassPermissions` counts on the command line only",
  },
  { key: "permissions.additionalDirectories", ...allowList, help: "Folders beside the project that may be worked in" },
  {
    key: "permissions.networkReads",
    shape: boolean,
    ...ignored,
    default: false,
    help: "Commands that only ask others on the network (`gh pr view`, `npm view`, `git ls-remote`) run without a rule, outside the box",
  },
  {
    key: "permissions.disableBypassPermissionsMode",
    shape: { type: "text", choices: ["disable"] },
    merge: "replace",
    untrusted: "counts",
    help: '`"disable"`: no run here may use `bypassPermissions`',
  },
  {
    key: "hooks",
    shape: { type: "object" },
    merge: "collect",
    untrusted: "ignored",
    executes: true,
    help: "Programs, addresses and prompts that are asked when something happens, by event",
  },
  {
    key: "disableAllHooks",
    shape: boolean,
    ...ignored,
    notFromProject: () => "hooks that guard the user's machine are not a project's to turn off",
    default: false,
    help: "Only guard hooks run",
  },
  {
    key: "allowedHttpHookUrls",
    ...allowList,
    help: "The addresses http hooks may call, such as `https://hooks.example.com/*`; none without it",
  },
  {
    key: "passEnv",
    ...allowList,
    help: "Names of variables that programs get although they look like secrets or are keys of models",
  },
  { key: "env.*", shape: text, ...ignored, help: "A variable for the programs a run starts; never for the run itself" },
  { key: "model", shape: text, ...ignored, help: "The model to ask without `--model`; not read from `.claude` files" },
  {
    key: "fallbackModel",
    shape: text,
    ...ignored,
    help: "Whom to ask without `--fallback-model` when the first stays out of reach; not read from `.claude` files",
  },
  { key: "currentProvider", shape: text, ...ignored, help: "The key of the profile to use" },
  ...profileSettings("providers.*", [
    { key: "providers.*.type", shape: { type: "provider" }, ...ignored, help: "The provider of a profile" },
  ]),
  ...profileSettings("provider", [
    { key: "provider.type", shape: { type: "provider" }, ...ignored, help: "The older form: one profile without a key" },
    { key: "provider.name", shape: { type: "provider" }, ...ignored, help: "The same as `provider.type`" },
  ]),
  {
    key: "mcpServers.*",
    shape: { type: "object" },
    ...ignored,
    executes: true,
    help: "An MCP server, as in `.mcp.json`; of two with one name the higher counts as a whole",
  },
  { key: "enabledMcpjsonServers", ...allowList, help: "Servers of the project's `.mcp.json` to start" },
  { key: "disabledMcpjsonServers", ...allowList, untrusted: "counts", help: "Servers of `.mcp.json` never to start" },
  {
    key: "enableAllProjectMcpServers",
    shape: boolean,
    ...ignored,
    default: false,
    help: "Start every server of the project's `.mcp.json`",
  },
  {
    key: "enabledPlugins",
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
    executes: true,
    help: 'Which installed plugins count: `{"name@marketplace": true}`; see `outrider plugins`',
  },
  {
    key: "extraKnownMarketplaces",
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
    executes: true,
    help: 'Marketplaces by name: `{"name": {"source": {"source": "github", "repo": "owner/repo"}}}`; nothing is fetched by itself',
  },
  {
    key: "sandbox.mode",
    shape: { type: "text", choices: sandboxModes },
    merge: "replace",
    untrusted: "stricter",
    isStricter: isLater(sandboxModes),
    default: "auto",
    help: 'What runs in a sandbox: `auto` what only the mode allows, `require` everything, `off` nothing. `"sandbox": "require"` says the same',
  },
  {
    key: "sandbox.network.allowed",
    shape: boolean,
    merge: "replace",
    untrusted: "stricter",
    isStricter: (value) => value === false,
    default: false,
    help: "Sandboxed commands reach the whole network",
  },
  { key: "sandbox.network.domains", ...allowList, help: "Hosts sandboxed commands reach without that" },
  { key: "sandbox.allowWrite", ...allowList, help: "Folders beside the project that sandboxed commands may write to" },
  { key: "sandbox.denyRead", ...allowList, untrusted: "counts", help: "Paths that are hidden from sandboxed commands" },
  { key: "sandbox.limits.processes", ...limit, help: "Processes a sandboxed command may have" },
  { key: "sandbox.limits.memoryMb", ...limit, help: "Memory of each of them, in MB" },
  { key: "sandbox.limits.fileSizeMb", ...limit, help: "The largest file it may write, in MB" },
  { key: "compaction.enabled", shape: boolean, ...ignored, help: "Summarise the conversation before it outgrows the model" },
  {
    key: "compaction.threshold",
    shape: { type: "number", least: 0.05, most: 1, whole: false },
    ...ignored,
    help: "From which share of the model's window on, such as 0.8",
  },
  { key: "limits.maxRequests", ...limit, help: "Model requests of one prompt in all, without `--max-requests`" },
  {
    key: "loops.noteAt",
    shape: repeats,
    ...ignored,
    default: 3,
    help: "The same call with the same result is pointed out to the model when it has happened so often; 0 for never",
  },
  { key: "loops.stopAt", shape: repeats, ...ignored, default: 6, help: "And ends the turn when so often; 0 for never" },
  { key: "checkpoints.enabled", shape: boolean, ...ignored, help: "Keep files as they were before a run changed them" },
  { key: "checkpoints.keepDays", shape: count(36_500), ...ignored, help: "For how many days" },
  {
    key: "audit.keepDays",
    shape: count(36_500),
    ...ignored,
    default: 365,
    notFromProject: () => "the log is about the decisions of all projects",
    help: "For how many days decisions about calls stay on record",
  },
  {
    key: "journal.sync",
    shape: { type: "text", choices: ["always", "batch", "never"] },
    ...ignored,
    help: "When events are forced to the disk: each one, several at once, or when the system likes",
  },
  {
    key: "webSearch.engine",
    shape: { type: "text", choices: ["brave", "searxng", "tavily", "exa", "anthropic", "openai", "gemini"] },
    ...ignored,
    help: "Who answers WebSearch, which is offered only then; the last three have a small model of theirs search, which is not in the cost of the run",
  },
  {
    key: "webSearch.apiKey",
    shape: text,
    ...ignored,
    help: "Its key, or `$ENV:NAME` for the variable that holds it; `BRAVE_API_KEY`, `TAVILY_API_KEY`, `EXA_API_KEY`, or the variable of the provider when absent",
  },
  {
    key: "webSearch.url",
    shape: text,
    ...ignored,
    help: "The address of a SearXNG, or another server that answers like the engine",
  },
  {
    key: "autoMemoryEnabled",
    shape: boolean,
    ...ignored,
    default: false,
    help: "Tell new sessions what Claude Code has noted about the project (`~/.claude/projects/…/memory/MEMORY.md`)",
  },
  {
    key: "outputStyle",
    shape: text,
    ...ignored,
    help: "How answers are written: `Concise`, `Explanatory`, `Learning`, `Proactive`, or the name of a file in `output-styles`",
  },
  {
    key: "language",
    // It is put before the model, and may come from a project nobody trusts: room for a name, not for instructions.
    shape: { type: "text", pattern: /^[\p{L}\p{M}][\p{L}\p{M} ()-]{0,39}$/u, expected: "the name of a language" },
    merge: "replace",
    untrusted: "counts",
    help: "The language to answer in",
  },
];
