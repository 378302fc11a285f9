import { isPermissionMode } from "../protocol/permission.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { type CheckedLayer, checkLayer, type Leaf } from "./check-layer.ts";
import { type ChildVariables, toChildVariables } from "./child-variables.ts";
import { failAt, placeOf } from "./layer-error.ts";
import type { SettingsLayer } from "./layers.ts";
import { emptyObject, type MergedSetting, mergeLeaves } from "./merge.ts";
import { parseProviderSettings, type ProviderSettingsFile } from "./profiles.ts";
import { sandboxModes } from "./schema.ts";
import type {
  HookSource,
  IgnoredSetting,
  ResolvedSettings,
  RuleText,
  SandboxSettings,
  ServerSource,
  Settings,
} from "./settings.ts";
import { defined } from "../util/defined.ts";

/**
 * All layers made one. Of a project that is not trusted only what forbids or restricts counts. Throws for what is wrong in any file,
 * trusted or not: a rule that was meant to forbid something is never dropped in silence.
 */
export function resolveSettings(layers: readonly SettingsLayer[], { trusted }: { trusted: boolean }): ResolvedSettings {
  const checked = layers.map((layer) => ({ layer, ...checkLayer(layer) }));
  const merged = mergeLeaves(
    checked.flatMap(({ leaves }) => leaves),
    { trusted },
  );
  const found = finder(merged);
  const variables = toChildVariables(merged);
  return {
    settings: toSettings(found, merged, { trusted, variables }),
    ignored: ignoredIn(merged, checked, trusted),
    warnings: [...checked.flatMap(({ warnings }) => warnings), ...variables.warnings],
    sources: [...new Set(layers.map(({ scope }) => scope))],
    files: layers.map(({ path }) => path),
    explain: async (key) => (await import("./explain.ts")).explainSettings(merged, key),
  };
}

/** The merged values by key; nothing else needs to know how they are kept. */
type Finder = {
  one(key: string): MergedSetting | undefined;
  value<T extends JsonValue>(key: string, is: (value: JsonValue) => value is T): T | undefined;
  list(key: string): string[] | undefined;
};

function finder(merged: readonly MergedSetting[]): Finder {
  const byKey = new Map(merged.map((one) => [one.path.join("."), one]));
  const one = (key: string): MergedSetting | undefined => {
    const found = byKey.get(key);
    return found?.setting.key === key ? found : undefined; // a name of the user's choosing may hold dots
  };
  return {
    one,
    value(key, is) {
      const value = one(key)?.value;
      return value !== undefined && is(value) ? value : undefined;
    },
    list(key) {
      const value = one(key)?.value;
      return Array.isArray(value) ? value.filter(isText) : undefined;
    },
  };
}

type Facts = { readonly trusted: boolean; readonly variables: ChildVariables };

function toSettings(found: Finder, merged: readonly MergedSetting[], { trusted, variables }: Facts): Settings {
  return {
    permissions: {
      allow: toRules(found.one("permissions.allow")),
      ask: toRules(found.one("permissions.ask")),
      deny: toRules(found.one("permissions.deny")),
      defaultMode: modeOf(found),
      additionalDirectories: found.list("permissions.additionalDirectories") ?? [],
      networkReads: found.value("permissions.networkReads", isBoolean) ?? false,
      disableBypassPermissionsMode: found.value("permissions.disableBypassPermissionsMode", isText) === "disable",
    },
    hooks: toHooks(found.one("hooks"), { trusted, turnedOff: turnsOffOwn(found.one("disableAllHooks")) }),
    disableAllHooks: found.value("disableAllHooks", isBoolean) ?? false,
    allowedHttpHookUrls: found.list("allowedHttpHookUrls"),
    env: variables.env,
    model: found.value("model", isText),
    fallbackModel: found.value("fallbackModel", isText),
    claude: {},
    provider: toProviders(found, merged),
    mcpServers: toServers(merged),
    passEnv: found.list("passEnv") ?? [],
    enabledMcpjsonServers: found.list("enabledMcpjsonServers") ?? [],
    disabledMcpjsonServers: found.list("disabledMcpjsonServers") ?? [],
    enableAllProjectMcpServers: found.value("enableAllProjectMcpServers", isBoolean) ?? false,
    enabledPlugins: switchesIn(found.value("enabledPlugins", isJsonObject)),
    pluginConfigs: found.value("pluginConfigs", isJsonObject) ?? {},
    extraKnownMarketplaces: found.value("extraKnownMarketplaces", isJsonObject) ?? {},
    sandbox: toSandbox(found),
    compaction: {
      enabled: found.value("compaction.enabled", isBoolean),
      threshold: found.value("compaction.threshold", isNumber),
    },
    limits: { maxRequests: found.value("limits.maxRequests", isNumber) },
    loops: { noteAt: found.value("loops.noteAt", isNumber), stopAt: found.value("loops.stopAt", isNumber) },
    checkpoints: {
      enabled: found.value("checkpoints.enabled", isBoolean),
      keepDays: found.value("checkpoints.keepDays", isNumber),
    },
    audit: { keepDays: found.value("audit.keepDays", isNumber) },
    journal: { sync: found.value("journal.sync", isOneOf("always", "batch", "never")) },
    webSearch: {
      engine: found.value("webSearch.engine", isText),
      apiKey: found.value("webSearch.apiKey", isText),
      url: found.value("webSearch.url", isText),
    },
    autoMemoryEnabled: found.value("autoMemoryEnabled", isBoolean),
    language: found.value("language", isText),
    outputStyle: found.value("outputStyle", isText),
    systemPromptPresets: textsBelow("systemPromptPresets", merged),
    skills: {
      overrides: textsBelow("skillOverrides", merged),
      withoutCommands: found.value("disableSkillShellExecution", isBoolean) ?? false,
      maxDescription: found.value("skillListingMaxDescChars", isNumber),
      listingShare: found.value("skillListingBudgetFraction", isNumber),
    },
  };
}

/** What files say under names of their own choosing. */
function textsBelow(top: string, merged: readonly MergedSetting[]): Record<string, string> {
  return Object.fromEntries(
    merged.flatMap(({ path, value }) => (path[0] === top && typeof value === "string" ? [[path.at(-1) ?? "", value]] : [])),
  );
}

/** A list of versions, as Claude Code may have it, switches nothing on. */
function switchesIn(value: JsonObject | undefined): Readonly<Record<string, boolean>> {
  return Object.fromEntries(Object.entries(value ?? {}).map(([id, on]) => [id, on === true]));
}

/** What no file says is undefined here, although `explain` shows the mode that then holds. */
function modeOf(found: Finder): Settings["permissions"]["defaultMode"] {
  const mode = found.one("permissions.defaultMode");
  const isSaid = mode?.contributions.some(({ verdict }) => verdict === "won");
  return isSaid && isPermissionMode(mode?.value) ? mode?.value : undefined;
}

function toRules(merged: MergedSetting | undefined): RuleText[] {
  const rules = new Map<string, RuleText>();
  for (const { leaf, verdict } of merged?.contributions ?? []) {
    if (verdict === "ignored" || !Array.isArray(leaf.value)) continue;
    for (const [index, text] of leaf.value.entries()) {
      if (isText(text) && !rules.has(text)) rules.set(text, { text, source: placeOf(leaf.layer, [...leaf.written, index]) });
    }
  }
  return [...rules.values()];
}

type HookFacts = { readonly trusted: boolean; readonly turnedOff: boolean };

function toHooks(merged: MergedSetting | undefined, { trusted, turnedOff }: HookFacts): HookSource[] {
  return (merged?.contributions ?? []).flatMap(({ leaf }) => {
    const { scope, path, lineOf } = leaf.layer;
    const isUsers = scope === "user" || scope === "flag";
    const source = {
      source: path,
      scope,
      trusted: trusted || isUsers,
      lineOf,
      ...(turnedOff && !isUsers && { guardsOnly: true }),
    };
    return isJsonObject(leaf.value) ? [{ value: leaf.value, ...source }] : [];
  });
}

/** Do the project's files turn off hooks? That goes for their own, whatever the user's say. */
function turnsOffOwn(merged: MergedSetting | undefined): boolean {
  const ofProject = merged?.contributions.filter(({ leaf }) => leaf.layer.scope !== "user" && leaf.layer.scope !== "flag");
  return ofProject?.at(-1)?.leaf.value === true;
}

function toServers(merged: readonly MergedSetting[]): ServerSource[] {
  return merged.flatMap(({ setting, path, value, contributions }) => {
    const winner = contributions.find(({ verdict }) => verdict === "won")?.leaf;
    if (setting.key !== "mcpServers.*" || !winner || !value || !isJsonObject(value)) return [];
    return [{ name: path.at(-1) ?? "", value, source: placeOf(winner.layer, winner.written) }];
  });
}

/** The profiles as one file would hold them, which is how the rest of the code knows them. */
function toProviders(found: Finder, merged: readonly MergedSetting[]): ProviderSettingsFile {
  const whole = emptyObject();
  const untyped = new Map<string, Leaf>();
  const typed = new Set<string>();
  for (const { path, value, contributions } of merged) {
    const [top = "", name = ""] = path;
    const last = contributions.findLast(({ verdict }) => verdict !== "ignored")?.leaf;
    if (value === undefined || !last || !["providers", "provider", "currentProvider"].includes(top)) continue;
    put(whole, path, value);
    const profile = top === "providers" ? `providers.${name}` : top;
    if (top === "currentProvider" || path.at(-1) === "type" || (top === "provider" && name === "name")) typed.add(profile);
    untyped.set(profile, last);
  }
  for (const [profile, leaf] of untyped)
    if (!typed.has(profile)) failAt(leaf.layer, leaf.written, `${profile}.type must name a provider`);
  const current = found.one("currentProvider")?.contributions.find(({ verdict }) => verdict === "won")?.leaf;
  return parseProviderSettings(whole, current ? placeOf(current.layer, current.written) : "settings");
}

function put(object: JsonObject, [name = "", ...rest]: readonly string[], value: JsonValue): void {
  if (rest.length === 0) {
    object[name] = value;
    return;
  }
  const present = object[name];
  const inner = present !== undefined && isJsonObject(present) ? present : emptyObject();
  object[name] = inner;
  put(inner, rest, value);
}

function toSandbox(found: Finder): SandboxSettings {
  const limits = {
    processes: found.value("sandbox.limits.processes", isNumber),
    memoryMb: found.value("sandbox.limits.memoryMb", isNumber),
    fileSizeMb: found.value("sandbox.limits.fileSizeMb", isNumber),
  };
  return {
    mode: found.value("sandbox.mode", isOneOf(...sandboxModes)) ?? "auto",
    network: {
      allowed: found.value("sandbox.network.allowed", isBoolean) ?? false,
      domains: found.list("sandbox.network.domains") ?? [],
    },
    allowWrite: found.list("sandbox.allowWrite") ?? [],
    denyRead: found.list("sandbox.denyRead") ?? [],
    denyWrite: found.list("sandbox.denyWrite") ?? [],
    limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
  };
}

function ignoredIn(
  merged: readonly MergedSetting[],
  checked: readonly (CheckedLayer & { layer: SettingsLayer })[],
  trusted: boolean,
): IgnoredSetting[] {
  const values = merged.flatMap(({ contributions }) =>
    contributions.flatMap(({ leaf, verdict, why }) =>
      verdict === "ignored" ? [ignoredAt(leaf.layer, leaf.written, why ?? "")] : [],
    ),
  );
  const programs = checked.flatMap(({ layer, executors }) =>
    trusted || layer.scope === "user" || layer.scope === "flag"
      ? []
      : executors.map((key) => ignoredAt(layer, key.split("."), "the project is not trusted, and it would start a program")),
  );
  return [...values, ...programs];
}

function ignoredAt(layer: SettingsLayer, written: readonly string[], why: string): IgnoredSetting {
  const line = layer.lineOf(written);
  return { path: layer.path, key: written.join("."), ...defined({ line }), why };
}

function isText(value: JsonValue): value is string {
  return typeof value === "string";
}

function isBoolean(value: JsonValue): value is boolean {
  return typeof value === "boolean";
}

function isNumber(value: JsonValue): value is number {
  return typeof value === "number";
}

function isOneOf<T extends string>(...choices: readonly T[]): (value: JsonValue) => value is T {
  return (value): value is T => choices.some((choice) => choice === value);
}
