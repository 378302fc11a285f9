import type { JsonValue } from "../protocol/content.ts";
import { permissionModes } from "../protocol/permission.ts";

/** What a value must look like. `provider` is the name of a known provider, `rules` a list of permission rules. */
export type Shape =
  | { readonly type: "boolean" }
  | { readonly type: "text"; readonly choices?: readonly string[]; readonly pattern?: RegExp; readonly expected?: string }
  | { readonly type: "number"; readonly least: number; readonly most: number; readonly whole: boolean }
  | { readonly type: "texts" | "rules" | "object" | "provider" };

/**
 * One key of a settings file. What is said here once is what the reader checks, the merge obeys and `explain` shows; docs/settings.md
 * lists it with its meaning.
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
/** What becomes of a skill, loosest first. */
const skillOverrides = ["on", "name-only", "user-invocable-only", "off"];
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
  { key: `${at}.model`, shape: text, ...ignored },
  { key: `${at}.apiKey`, shape: text, ...ignored },
  { key: `${at}.baseURL`, shape: text, ...ignored },
  { key: `${at}.timeout`, shape: milliseconds, ...ignored },
  { key: `${at}.contextWindow`, shape: count(2 ** 31 - 1), ...ignored },
  {
    key: `${at}.options`,
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
  },
];

export const settingsSchema: readonly Setting[] = [
  {
    key: "permissions.allow",
    shape: { type: "rules" },
    merge: "unite",
    untrusted: "ignored",
  },
  {
    key: "permissions.ask",
    shape: { type: "rules" },
    merge: "unite",
    untrusted: "counts",
  },
  { key: "permissions.deny", shape: { type: "rules" }, merge: "unite", untrusted: "counts" },
  {
    key: "permissions.defaultMode",
    shape: { type: "text", choices: permissionModes },
    merge: "replace",
    untrusted: "stricter",
    isStricter: isLater(modesByStrictness),
    notFromProject: (value) =>
      value === "bypassPermissions" ? "a project cannot turn permissions off, trusted or not" : undefined,
    default: "default",
  },
  { key: "permissions.additionalDirectories", ...allowList },
  {
    key: "permissions.networkReads",
    shape: boolean,
    ...ignored,
    default: false,
  },
  {
    key: "permissions.disableBypassPermissionsMode",
    shape: { type: "text", choices: ["disable"] },
    merge: "replace",
    untrusted: "counts",
  },
  {
    key: "hooks",
    shape: { type: "object" },
    merge: "collect",
    untrusted: "ignored",
    executes: true,
  },
  {
    key: "disableAllHooks",
    shape: boolean,
    ...ignored,
    notFromProject: () => "it turns off the project's own hooks only: those of the user are not a project's to turn off",
    default: false,
  },
  {
    key: "allowedHttpHookUrls",
    ...allowList,
  },
  {
    key: "passEnv",
    ...allowList,
  },
  { key: "env.*", shape: text, ...ignored },
  { key: "model", shape: text, ...ignored },
  {
    key: "fallbackModel",
    shape: text,
    ...ignored,
  },
  { key: "currentProvider", shape: text, ...ignored },
  ...profileSettings("providers.*", [{ key: "providers.*.type", shape: { type: "provider" }, ...ignored }]),
  ...profileSettings("provider", [
    { key: "provider.type", shape: { type: "provider" }, ...ignored },
    { key: "provider.name", shape: { type: "provider" }, ...ignored },
  ]),
  {
    key: "mcpServers.*",
    shape: { type: "object" },
    ...ignored,
    executes: true,
  },
  { key: "enabledMcpjsonServers", ...allowList },
  { key: "disabledMcpjsonServers", ...allowList, untrusted: "counts" },
  {
    key: "enableAllProjectMcpServers",
    shape: boolean,
    ...ignored,
    default: false,
  },
  {
    key: "enabledPlugins",
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
    executes: true,
  },
  {
    key: "pluginConfigs",
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
    notFromProject: () => "what plugins are told is the user's to say",
  },
  {
    key: "extraKnownMarketplaces",
    shape: { type: "object" },
    merge: "deep",
    untrusted: "ignored",
    executes: true,
  },
  {
    key: "sandbox.mode",
    shape: { type: "text", choices: sandboxModes },
    merge: "replace",
    untrusted: "stricter",
    isStricter: isLater(sandboxModes),
    default: "auto",
  },
  {
    key: "sandbox.network.allowed",
    shape: boolean,
    merge: "replace",
    untrusted: "stricter",
    isStricter: (value) => value === false,
    default: false,
  },
  { key: "sandbox.network.domains", ...allowList },
  { key: "sandbox.allowWrite", ...allowList },
  { key: "sandbox.denyRead", ...allowList, untrusted: "counts" },
  { key: "sandbox.denyWrite", ...allowList, untrusted: "counts" },
  { key: "sandbox.limits.processes", ...limit },
  { key: "sandbox.limits.memoryMb", ...limit },
  { key: "sandbox.limits.fileSizeMb", ...limit },
  { key: "compaction.enabled", shape: boolean, ...ignored },
  {
    key: "compaction.threshold",
    shape: { type: "number", least: 0.05, most: 1, whole: false },
    ...ignored,
  },
  { key: "limits.maxRequests", ...limit },
  {
    key: "loops.noteAt",
    shape: repeats,
    ...ignored,
    default: 3,
  },
  { key: "loops.stopAt", shape: repeats, ...ignored, default: 6 },
  { key: "checkpoints.enabled", shape: boolean, ...ignored },
  { key: "checkpoints.keepDays", shape: count(36_500), ...ignored },
  {
    key: "audit.keepDays",
    shape: count(36_500),
    ...ignored,
    default: 365,
    notFromProject: () => "the log is about the decisions of all projects",
  },
  {
    key: "journal.sync",
    shape: { type: "text", choices: ["always", "batch", "never"] },
    ...ignored,
  },
  {
    key: "webSearch.engine",
    shape: { type: "text", choices: ["brave", "searxng", "tavily", "exa", "anthropic", "openai", "gemini"] },
    ...ignored,
  },
  {
    key: "webSearch.apiKey",
    shape: text,
    ...ignored,
  },
  {
    key: "webSearch.url",
    shape: text,
    ...ignored,
  },
  {
    key: "autoMemoryEnabled",
    shape: boolean,
    ...ignored,
    default: false,
  },
  {
    key: "outputStyle",
    shape: text,
    ...ignored,
  },
  {
    key: "skillOverrides.*",
    shape: { type: "text", choices: skillOverrides },
    merge: "replace",
    untrusted: "stricter",
    isStricter: isLater(skillOverrides),
  },
  {
    key: "disableSkillShellExecution",
    shape: boolean,
    merge: "replace",
    untrusted: "stricter",
    isStricter: (value) => value === true,
  },
  { key: "skillListingMaxDescChars", shape: count(100_000), ...ignored },
  { key: "skillListingBudgetFraction", shape: { type: "number", least: 0.0001, most: 1, whole: false }, ...ignored },
  { key: "systemPromptPresets.*", shape: text, ...ignored },
  {
    key: "language",
    // It is put before the model, and may come from a project nobody trusts: room for a name, not for instructions.
    shape: { type: "text", pattern: /^[\p{L}\p{M}][\p{L}\p{M} ()-]{0,39}$/u, expected: "the name of a language" },
    merge: "replace",
    untrusted: "counts",
  },
];
