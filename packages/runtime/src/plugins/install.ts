import { renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import type { HookLimits } from "../hooks/config.ts";
import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { replaceFile } from "../util/replace-file.ts";
import { syncFolder } from "../util/sync-folder.ts";
import { compareVersions } from "./compare-versions.ts";
import { hashBundle } from "./content-hash.ts";
import type { GitWays } from "./fetch-git.ts";
import { loadPlugin } from "./load-plugin.ts";
import type { LoadedBundlePlugin } from "./plugin.ts";
import { type PluginExecutor, pluginExecutors } from "./plugin-executors.ts";
import { removeFrom, withPluginHome } from "./plugin-home.ts";
import { isPluginName } from "./plugin-name.ts";
import { describeSource, type PluginSource } from "./plugin-source.ts";
import { readBundleJson } from "./read-bundle.ts";
import { type InstalledPlugin, readRegistry, registryFile, toRegistryText } from "./registry.ts";
import { stageBundle } from "./stage-bundle.ts";

/** What somebody is asked to accept. Nothing of it has run, and nothing of it is installed. */
export type PluginInspection = {
  readonly id: string;
  readonly version: string;
  readonly plugin: LoadedBundlePlugin;
  readonly contentHash: string;
  readonly commit: string | undefined;
  readonly executors: readonly PluginExecutor[];
  /** What is installed now. */
  readonly before: InstalledPlugin | undefined;
  /** Against what is installed now: what it would run that it does not run yet, and the other way round. */
  readonly added: readonly PluginExecutor[];
  readonly removed: readonly PluginExecutor[];
};

export type InstallRequest = {
  readonly source: PluginSource;
  /** `direct` where there is none. */
  readonly marketplace: string;
  /** What a marketplace says about it. */
  readonly entry?: JsonObject | undefined;
  /** The content must be this one. */
  readonly contentHash?: string | undefined;
  /** The one that is brought up to date. */
  readonly expected?: string | undefined;
  /** Also a version that is older than what is installed. */
  readonly older?: boolean | undefined;
  /** Is what would run accepted? */
  readonly accept: (inspection: PluginInspection) => Promise<boolean>;
};

export type InstallerOptions = GitWays & {
  /** Where plugins are kept: of the user, or of a project. */
  readonly home: string;
  /** What hooks may do by the user's settings. */
  readonly hookLimits?: HookLimits | undefined;
  /** Paths in the registry start there, so that a project can be moved. */
  readonly isShared?: boolean | undefined;
  readonly now?: (() => number) | undefined;
};

export type InstallResult =
  | { readonly type: "installed"; readonly installed: InstalledPlugin; readonly inspection: PluginInspection }
  | { readonly type: "unchanged"; readonly installed: InstalledPlugin; readonly inspection: PluginInspection }
  | { readonly type: "declined"; readonly inspection: PluginInspection };

/** Installs, lists and removes bundles. What is in the registry is there as a whole; what is not in it counts for nobody. */
export class BundlePluginInstaller {
  readonly #options: InstallerOptions;

  constructor(options: InstallerOptions) {
    this.#options = options;
  }

  list(): InstalledPlugin[] {
    return [...readRegistry(this.#options.home).values()].map((one) => ({ ...one, path: resolve(this.#options.home, one.path) }));
  }

  get(id: string): InstalledPlugin | undefined {
    return this.list().find((one) => one.id === id);
  }

  /** Are the files still those that were accepted? */
  isUnchanged({ path, contentHash }: InstalledPlugin): boolean {
    try {
      return hashBundle(path) === contentHash;
    } catch {
      return false;
    }
  }

  async install(request: InstallRequest): Promise<InstallResult> {
    const { home, isShared, now = Date.now } = this.#options;
    return await withPluginHome(home, async (staging) => {
      const inspection = await this.#inspect(request, staging);
      const { id, version, contentHash, commit, before } = inspection;
      if (before?.contentHash === contentHash && this.isUnchanged({ ...before, path: resolve(home, before.path) }))
        return { type: "unchanged", installed: before, inspection };
      if (!request.older && before && compareVersions(version, before.version) < 0)
        throw new RuntimeError("usage", `${id} would become older: ${version} after ${before.version}`, {
          hint: "--older takes it",
        });
      if (!(await request.accept(inspection))) return { type: "declined", inspection };
      const place = join("cache", request.marketplace, id.slice(0, id.lastIndexOf("@")), folderOf(version, contentHash));
      const target = join(home, place);
      makeFolder(dirname(target), 0o755);
      rmSync(target, { recursive: true, force: true }); // of the same content, and changed by somebody
      renameSync(inspection.plugin.path, target);
      await syncFolder(dirname(target));
      const at = new Date(now()).toISOString();
      const installed: InstalledPlugin = {
        ...{ id, path: isShared ? place : target, version, contentHash, commit },
        ...{ installedAt: before?.installedAt ?? at, lastUpdated: at },
        from: request.marketplace === "direct" ? request.source : undefined,
      };
      await this.#write((registry) => registry.set(id, installed));
      if (before && resolve(home, before.path) !== target) removeFrom(home, resolve(home, before.path));
      return { type: "installed", installed, inspection };
    });
  }

  /** False when it was not installed. */
  async remove(id: string): Promise<boolean> {
    const { home } = this.#options;
    const found = readRegistry(home).get(id);
    if (!found) return false;
    await withPluginHome(home, async () => {
      await this.#write((registry) => registry.delete(id));
      removeFrom(home, resolve(home, found.path));
    });
    return true;
  }

  async #inspect({ source, marketplace, entry, ...wanted }: InstallRequest, staging: string): Promise<PluginInspection> {
    const { home, signal, env, hookLimits } = this.#options;
    const staged = await stageBundle(source, staging, { signal, env });
    const named = entry?.["name"];
    if (entry) completeManifest(staged.path, entry);
    const contentHash = entry ? hashBundle(staged.path) : staged.contentHash;
    if (wanted.contentHash !== undefined && wanted.contentHash !== contentHash)
      throw new RuntimeError("config", `The content is ${contentHash}, and ${wanted.contentHash} was accepted`);
    const name = isPluginName(named) ? named : undefined;
    const plugin = await loadPlugin({
      ...{ path: staged.path, name, fallbackName: nameIn(source), marketplace, pluginHome: home, hookLimits },
    });
    if (wanted.expected !== undefined && plugin.id !== wanted.expected)
      throw new RuntimeError("config", `The source of ${wanted.expected} holds ${plugin.id} now`);
    const [before, executors] = [readRegistry(home).get(plugin.id), await pluginExecutors(plugin)];
    const other = [...readRegistry(home).values()].find(
      ({ id }) => id !== plugin.id && id.toLowerCase() === plugin.id.toLowerCase(),
    );
    if (other) throw new RuntimeError("config", `${plugin.id} and ${other.id}, which is installed, are one name on some systems`);
    const earlier = before ? await this.#earlierExecutors(before) : [];
    return {
      ...{ id: plugin.id, plugin, contentHash, commit: staged.commit, executors, before },
      version: versionOf(plugin, { entry, commit: staged.commit, contentHash }),
      added: executors.filter((one) => !earlier.some((other) => isSame(one, other))),
      removed: earlier.filter((one) => !executors.some((other) => isSame(one, other))),
    };
  }

  async #earlierExecutors({ id, path }: InstalledPlugin): Promise<PluginExecutor[]> {
    const { home: pluginHome, hookLimits } = this.#options;
    const [name, marketplace = ""] = id.split("@");
    try {
      return await pluginExecutors(
        await loadPlugin({ path: resolve(pluginHome, path), name, marketplace, pluginHome, hookLimits }),
      );
    } catch {
      return []; // it is broken by now
    }
  }

  async #write(change: (registry: Map<string, InstalledPlugin>) => unknown): Promise<void> {
    const { home } = this.#options;
    const registry = readRegistry(home);
    change(registry);
    if (registry.size === 0) rmSync(registryFile(home), { force: true });
    else await replaceFile(registryFile(home), toRegistryText(registry.values()), { mode: 0o644, isLasting: true });
  }
}

/** The last word of where it comes from, where that is a name. */
function nameIn(source: PluginSource): string {
  const place = source.type === "git" ? (source.path ?? source.url) : describeSource(source);
  const name = basename(place).replace(/\.(?:git|zip|tgz|tar\.gz|tar)$/, "");
  return isPluginName(name) ? name : "";
}

function isSame(a: PluginExecutor, b: PluginExecutor): boolean {
  return a.kind === b.kind && a.what === b.what;
}

/** plugin.json, else the marketplace, else the commit, else the content. */
function versionOf(
  { manifest }: LoadedBundlePlugin,
  { entry, commit, contentHash }: { entry: JsonObject | undefined; commit: string | undefined; contentHash: string },
): string {
  const said = entry?.["version"];
  return (
    manifest.version ??
    (typeof said === "string" ? said : undefined) ??
    (commit ?? contentHash.slice("sha256:".length)).slice(0, 12)
  );
}

/** A version that cannot be the name of a folder is none there. The hash keeps two contents of one version apart. */
function folderOf(version: string, contentHash: string): string {
  const hash = contentHash.slice("sha256:".length, "sha256:".length + 12);
  return /^[0-9A-Za-z][0-9A-Za-z.+-]{0,40}$/.test(version) ? `${version}-${hash}` : hash;
}

const parts = ["skills", "commands", "agents", "hooks", "mcpServers", "outputStyles"];

/** What a marketplace says counts for a bundle that says nothing itself. With `strict: false` it is all there is to say. */
function completeManifest(path: string, entry: JsonObject): void {
  const own = readBundleJson(path, ".claude-plugin/plugin.json") ?? readBundleJson(path, ".outrider-plugin/plugin.json");
  if (own && entry["strict"] === false && parts.some((part) => own[part] !== undefined))
    throw new RuntimeError(
      "config",
      "Both the plugin and its marketplace say what it consists of, and the marketplace wants to be alone",
    );
  if (own) return;
  const told = [
    "name",
    "version",
    "description",
    "author",
    "keywords",
    "homepage",
    "license",
    "engines",
    "defaultEnabled",
    ...parts,
  ];
  const values = Object.fromEntries(told.flatMap((key) => (entry[key] === undefined ? [] : [[key, entry[key]]])));
  makeFolder(join(path, ".claude-plugin"), 0o777);
  writeFileSync(join(path, ".claude-plugin/plugin.json"), `${JSON.stringify(values, null, 2)}\n`, { mode: 0o644 });
}
