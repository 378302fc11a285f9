import type { SkillFolder } from "../commands/skills/skill.ts";
import type { HookSource } from "../hooks/config.ts";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";

/** What a bundle says about itself; every path in it is below the bundle. */
export type BundlePluginManifest = {
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly author?: string | undefined;
  readonly keywords: readonly string[];
  readonly homepage?: string | undefined;
  readonly license?: string | undefined;
  /** The range of versions by the name of the program that it is for. */
  readonly engines?: Readonly<Record<string, string>> | "unusable" | undefined;
  /** Off until somebody switches it on. */
  readonly defaultEnabled: boolean;
  /** Folders or files beside `skills/`. */
  readonly skills: readonly string[];
  /** In the place of the folders of these names; absent where the usual ones count. */
  readonly commands?: readonly string[] | undefined;
  readonly agents?: readonly string[] | undefined;
  readonly outputStyles?: readonly string[] | undefined;
  /** Values that its user sets, by key. */
  readonly userConfig: Readonly<Record<string, PluginOption>>;
  readonly dependencies: readonly PluginNeed[];
  /** Files beside `hooks/hooks.json`, and hooks that stand in the manifest itself. */
  readonly hooks: readonly (string | JsonObject)[];
  readonly mcpServers: readonly (string | JsonObject)[];
  /** Added to the system prompt. */
  readonly systemPrompt?: string | undefined;
  readonly permissions: PluginRules;
  /** As in its `settings.json`. */
  readonly settings?: JsonObject | undefined;
};

export type PluginRules = {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
};

/** A value that a bundle wants from its user. */
export type PluginOption = {
  readonly type: "string" | "number" | "boolean" | "directory" | "file";
  readonly title?: string;
  readonly description?: string;
  /** No model reads it, and no list of processes shows it. */
  readonly sensitive: boolean;
  readonly required: boolean;
};

/** Another bundle without which this one does not work. */
export type PluginNeed = { readonly name: string; readonly version?: string; readonly marketplace?: string };

/** A server of a bundle before its variables are filled in. */
export type PluginServer = { readonly name: string; readonly value: JsonObject; readonly source: string };

/** A bundle that was read. Nothing of it has run. */
export type LoadedBundlePlugin = {
  readonly manifest: BundlePluginManifest;
  readonly name: string;
  /** `name@inline` for a folder that somebody named, else `name@marketplace`. */
  readonly id: string;
  readonly path: string;
  /** Where it may keep what it writes; made by whoever writes first. */
  readonly data: string;
  readonly skillFolders: readonly SkillFolder[];
  readonly agents: readonly AgentDefinition[];
  readonly hooks: readonly HookSource[];
  /** Also those that settings keep from running. */
  readonly writtenHooks: readonly JsonValue[];
  readonly servers: readonly PluginServer[];
  readonly outputStyles: readonly string[];
  /** The one of its agents that a conversation is where nobody names another. */
  readonly mainAgent?: string | undefined;
  /** A folder of programs for commands. */
  readonly bin?: string | undefined;
  /** `CLAUDE_PLUGIN_ROOT` and its kin. */
  readonly variables: Readonly<Record<string, string>>;
  /** What was left out of it, a sentence each. */
  readonly warnings: readonly string[];
  /** Parts of Claude Code's that mean nothing here. */
  readonly unused: readonly string[];
  /** Hooks for moments that never come here, a sentence each. */
  readonly unheardHooks: readonly string[];
};

/** A bundle that could not be loaded. */
export type PluginProblem = {
  /** As far as it is known. */
  readonly plugin: string;
  readonly type: "path-not-found" | "dependency-unsatisfied" | "generic-error";
  readonly message: string;
  readonly path: string;
};
