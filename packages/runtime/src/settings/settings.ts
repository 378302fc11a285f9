import type { ClaudeChoices } from "./claude-choices.ts";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { KeyPath } from "./json-text.ts";
import type { SettingScope } from "./layers.ts";
import type { Verdict } from "./merge.ts";
import type { ProviderSettingsFile } from "./profiles.ts";

/** A permission rule as it is written; `source` is `file:line`. */
export type RuleText = { readonly text: string; readonly source: string };

/** One file's hooks. `trusted: false` ones must not run; they are here so that they can be told of. */
export type HookSource = {
  readonly value: JsonObject;
  readonly source: string;
  readonly scope: SettingScope;
  readonly trusted: boolean;
  /** The project turns off its own hooks: only guards of this file are left. */
  readonly guardsOnly?: boolean;
  /** The line of something in the file; paths start with `"hooks"`. */
  lineOf(keyPath: KeyPath): number | undefined;
};

export type ServerSource = { readonly name: string; readonly value: JsonObject; readonly source: string };

/** All files made one. Undefined means that no file says anything, and that the part which uses it has its own default. */
export type Settings = {
  readonly permissions: {
    readonly allow: readonly RuleText[];
    readonly ask: readonly RuleText[];
    readonly deny: readonly RuleText[];
    readonly defaultMode: PermissionMode | undefined;
    readonly additionalDirectories: readonly string[];
    readonly networkReads: boolean;
    readonly disableBypassPermissionsMode: boolean;
  };
  readonly hooks: readonly HookSource[];
  readonly disableAllHooks: boolean;
  /** Undefined is no list; an empty one allows nothing. */
  readonly allowedHttpHookUrls: readonly string[] | undefined;
  /** For child processes. Keys of providers and Outrider's own variables are not among them. */
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  readonly model: string | undefined;
  readonly fallbackModel: string | undefined;
  readonly claude: ClaudeChoices;
  readonly provider: ProviderSettingsFile;
  readonly mcpServers: readonly ServerSource[];
  readonly enabledMcpjsonServers: readonly string[];
  readonly disabledMcpjsonServers: readonly string[];
  readonly enableAllProjectMcpServers: boolean;
  /** By `name@marketplace`. */
  readonly enabledPlugins: Readonly<Record<string, boolean>>;
  /** Values that plugins want from their user, by `name@marketplace`. */
  readonly pluginConfigs: JsonObject;
  /** By name, as they are written. */
  readonly extraKnownMarketplaces: JsonObject;
  readonly sandbox: SandboxSettings;
  readonly compaction: { readonly enabled: boolean | undefined; readonly threshold: number | undefined };
  readonly limits: { readonly maxRequests: number | undefined };
  readonly loops: { readonly noteAt: number | undefined; readonly stopAt: number | undefined };
  readonly checkpoints: { readonly enabled: boolean | undefined; readonly keepDays: number | undefined };
  readonly audit: { readonly keepDays: number | undefined };
  readonly journal: { readonly sync: "always" | "batch" | "never" | undefined };
  readonly webSearch: {
    readonly engine: string | undefined;
    readonly apiKey: string | undefined;
    readonly url: string | undefined;
  };
  readonly autoMemoryEnabled: boolean | undefined;
  readonly language: string | undefined;
  readonly outputStyle: string | undefined;
  /** Texts for `--append-system-prompt preset:NAME`, by name. */
  readonly systemPromptPresets: Readonly<Record<string, string>>;
  readonly skills: SkillSettings;
};

export type SkillSettings = {
  /** By name: `on`, `name-only`, `user-invocable-only`, `off`. */
  readonly overrides: Readonly<Record<string, string>>;
  /** No command of a skill runs. */
  readonly withoutCommands: boolean;
  /** Characters of one description, and the share of a model's window that all of them may take. */
  readonly maxDescription: number | undefined;
  readonly listingShare: number | undefined;
};

export type SandboxSettings = {
  readonly mode: "auto" | "require" | "off";
  readonly network: { readonly allowed: boolean; readonly domains: readonly string[] };
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  readonly limits: { readonly processes?: number; readonly memoryMb?: number; readonly fileSizeMb?: number };
};

/** Something a project's file says and that does not count. */
export type IgnoredSetting = { readonly path: string; readonly key: string; readonly line?: number; readonly why: string };

/** A setting, what holds, and what each file says about it, lowest first. Secrets are hidden. */
export type Provenance = {
  readonly key: string;
  readonly value: JsonValue | undefined;
  readonly from: readonly {
    readonly path: string;
    readonly line?: number;
    readonly scope: SettingScope;
    readonly value: JsonValue;
    readonly verdict: Verdict;
    readonly why?: string;
  }[];
};

export type ResolvedSettings = {
  readonly settings: Settings;
  readonly ignored: readonly IgnoredSetting[];
  readonly warnings: readonly string[];
  /** The kinds of files that were read, lowest first. */
  readonly sources: readonly SettingScope[];
  readonly files: readonly string[];
  /** All settings that a file names, or those at and below `key`; a key that does not exist is an error. */
  explain(key?: string): Promise<Provenance[]>;
};

/** What holds where there is no settings file at all. */
export const noSettings: ResolvedSettings = {
  settings: {
    permissions: {
      allow: [],
      ask: [],
      deny: [],
      defaultMode: undefined,
      additionalDirectories: [],
      networkReads: false,
      disableBypassPermissionsMode: false,
    },
    hooks: [],
    disableAllHooks: false,
    allowedHttpHookUrls: undefined,
    env: {},
    passEnv: [],
    model: undefined,
    fallbackModel: undefined,
    claude: {},
    provider: { currentProvider: undefined, providers: {}, provider: undefined },
    mcpServers: [],
    enabledMcpjsonServers: [],
    disabledMcpjsonServers: [],
    enableAllProjectMcpServers: false,
    enabledPlugins: {},
    pluginConfigs: {},
    extraKnownMarketplaces: {},
    sandbox: { mode: "auto", network: { allowed: false, domains: [] }, allowWrite: [], denyRead: [], denyWrite: [], limits: {} },
    compaction: { enabled: undefined, threshold: undefined },
    limits: { maxRequests: undefined },
    loops: { noteAt: undefined, stopAt: undefined },
    checkpoints: { enabled: undefined, keepDays: undefined },
    audit: { keepDays: undefined },
    journal: { sync: undefined },
    webSearch: { engine: undefined, apiKey: undefined, url: undefined },
    autoMemoryEnabled: undefined,
    language: undefined,
    outputStyle: undefined,
    systemPromptPresets: {},
    skills: { overrides: {}, withoutCommands: false, maxDescription: undefined, listingShare: undefined },
  },
  ignored: [],
  warnings: [],
  sources: [],
  files: [],
  explain: async () => [],
};
