import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { HookLimits } from "../hooks/config.ts";
import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import { toRuntimeError } from "../protocol/errors.ts";
import type { PluginFact } from "../protocol/events.ts";
import { hashBundle } from "../plugins/content-hash.ts";
import { bundlesIn, loadPlugin } from "../plugins/load-plugin.ts";
import type { LoadedBundlePlugin, PluginProblem } from "../plugins/plugin.ts";
import { UnreadableHooks } from "../plugins/plugin-hooks.ts";
import { missingNeed } from "../plugins/plugin-needs.ts";
import { parsePluginId } from "../plugins/plugin-name.ts";
import { type InstalledPlugin, readRegistry } from "../plugins/registry.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { isInside } from "../util/is-inside.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

export type FoundPlugins = {
  readonly loaded: readonly LoadedBundlePlugin[];
  readonly problems: readonly PluginProblem[];
  readonly warnings: readonly string[];
};

export type PluginGround = {
  readonly around: Surroundings;
  readonly project: Project;
  readonly resolved: ResolvedSettings;
  /** Where the key for the model comes from. */
  readonly keySource: string;
};

/** One of those that are to be loaded, and whether it is still what was accepted. */
type Wanted = {
  /** What problems call it. */
  readonly called: string;
  readonly path: string;
  readonly name?: string | undefined;
  readonly marketplace: string;
  readonly withoutServers?: boolean | undefined;
  readonly contentHash?: string | undefined;
  /** The path or the address of an archive. */
  readonly isArchive?: boolean | undefined;
};

/** Bundles that the request names, then those that are installed and switched on. What is wrong with one costs that one only, but  hooks that were to watch and cannot be read are an error: nothing runs unwatched. */
export async function findPlugins(
  request: Pick<SessionRequest, "plugins" | "without">,
  ground: PluginGround,
  taken: readonly PluginFact[] = [],
): Promise<FoundPlugins> {
  const { around, resolved } = ground;
  const { disableAllHooks, allowedHttpHookUrls } = resolved.settings;
  const hookLimits: HookLimits = { disableAllHooks, ...(allowedHttpHookUrls && { allowedHttpHookUrls }) };
  const pluginHome = join(around.outriderHome, "plugins");
  const problems: PluginProblem[] = [];
  const loaded: LoadedBundlePlugin[] = [];
  const installed = request.without?.includes("plugins") ? { wanted: [], problems: [] } : await installedPlugins(ground);
  problems.push(...installed.problems);
  for (const wanted of [...namedPlugins(request, around), ...installed.wanted]) {
    const { called, name, marketplace, withoutServers } = wanted;
    const fail = (message: string, type: PluginProblem["type"] = "generic-error"): void =>
      void problems.push({ plugin: called, type, message, path: wanted.path });
    if (!wanted.isArchive && !existsSync(wanted.path)) {
      fail(`Path not found: ${wanted.path}`, "path-not-found");
      continue;
    }
    try {
      const path = wanted.isArchive ? await unpacked(wanted.path, around) : wanted.path;
      refuseChanged(wanted);
      const given = { valuesOf: (id: string) => valuesOf(resolved, id), env: around.env };
      const plugin = await loadPlugin({ path, name, marketplace, pluginHome, hookLimits, withoutServers, ...given });
      const isSame = ({ name }: { readonly name: string }): boolean => name.toLowerCase() === plugin.name.toLowerCase();
      const other = [...loaded, ...taken].find(isSame);
      if (other) fail(`There is another plugin ${plugin.name} in ${other.path}, and its parts count`);
      else loaded.push(plugin);
    } catch (error) {
      if (error instanceof UnreadableHooks) throw error;
      fail(`Failed to load plugin: ${toRuntimeError(error).message}`);
    }
  }
  for (let missing = true; missing; ) {
    missing = false;
    for (const plugin of [...loaded]) {
      const message = missingNeed(plugin, loaded);
      if (message === undefined) continue;
      missing = true; // others may have needed this one
      loaded.splice(loaded.indexOf(plugin), 1);
      problems.push({ plugin: plugin.id, type: "dependency-unsatisfied", message, path: plugin.path });
    }
  }
  return {
    loaded,
    problems,
    warnings: [
      ...problems.map(({ plugin, message }) => `The plugin ${plugin} does not count. ${message}`),
      ...loaded.flatMap(({ warnings, name }) => warnings.map((warning) => `Plugin ${name}: ${warning}`)),
      ...loaded.flatMap(allowWarnings),
    ],
  };
}

/** What the user has set for a bundle. */
function valuesOf({ settings }: ResolvedSettings, id: string): Readonly<Record<string, JsonValue>> {
  const config = settings.pluginConfigs[id];
  const options = isJsonObject(config) ? config["options"] : undefined;
  return isJsonObject(options) ? options : {};
}

function namedPlugins({ plugins = [] }: Pick<SessionRequest, "plugins">, { cwd }: Surroundings): Wanted[] {
  return plugins
    .flatMap(({ path, skipMcpDiscovery: withoutServers, isAddress }): Omit<Wanted, "called" | "marketplace">[] => {
      const place = isAddress ? path : resolve(cwd, path);
      if (isAddress || /\.(?:zip|tgz|tar\.gz|tar)$/i.test(path)) return [{ path: place, withoutServers, isArchive: true }];
      return bundlesIn(place).map((bundle) => ({ path: bundle, withoutServers }));
    })
    .map((plugin, at) => ({ ...plugin, called: `inline[${at}]`, marketplace: "inline" }));
}

async function unpacked(location: string, around: Surroundings): Promise<string> {
  const { stageArchive } = await import("./staged-archive.ts");
  const [bundle = ""] = bundlesIn(await stageArchive(location, around));
  return bundle;
}

/** What settings switch on. Of a project's own registry nothing counts unless the project is trusted, and nothing that lies outside of it. */
async function installedPlugins({
  around,
  project,
  resolved,
}: PluginGround): Promise<{ readonly wanted: readonly Wanted[]; readonly problems: readonly PluginProblem[] }> {
  const ids = Object.entries(resolved.settings.enabledPlugins).flatMap(([id, on]) => (on ? [id] : []));
  if (ids.length === 0) return { wanted: [], problems: [] };
  const problems: PluginProblem[] = [];
  const read = (home: string): ReadonlyMap<string, InstalledPlugin> => {
    try {
      return readRegistry(home);
    } catch (error) {
      problems.push({ plugin: "*", type: "generic-error", message: toRuntimeError(error).message, path: home });
      return new Map();
    }
  };
  const claudeHome = around.claudeHome ?? join(around.userHome, ".claude");
  const own = [read(join(around.outriderHome, "plugins")), read(join(claudeHome, "plugins"))];
  const projectHome = join(project.root, ".outrider", "plugins");
  const isOfProject = existsSync(projectHome) && projectHome !== join(around.outriderHome, "plugins");
  const shared = isOfProject && (await project.trust()).trusted ? read(projectHome) : new Map<string, InstalledPlugin>();
  const wanted = ids.flatMap((id): Wanted[] => {
    const ofUser = own.map((registry) => registry.get(id)).find((found) => found !== undefined);
    const ofProject = ofUser ? undefined : shared.get(id);
    const path = ofUser?.path ?? (ofProject && resolve(projectHome, ofProject.path));
    const parts = parsePluginId(id);
    if (parts && path !== undefined && (ofUser || isInside(projectHome, path)))
      return [{ called: id, path, ...parts, contentHash: (ofUser ?? ofProject)?.contentHash }];
    const message = `It is switched on in settings and not installed (outrider plugins install ${id})`;
    problems.push({ plugin: id, type: "path-not-found", message, path: path ?? "" });
    return [];
  });
  return { wanted, problems };
}

function refuseChanged({ called, path, contentHash }: Wanted): void {
  if (contentHash === undefined) return;
  const now = hashBundle(path);
  if (now !== contentHash)
    throw new Error(`its files have changed since it was installed: outrider plugins update ${called} shows and accepts them`);
}

/** What loosens something needs a yes to what was shown: a folder that somebody names has not been shown. */
function allowWarnings({ name, id, manifest }: LoadedBundlePlugin): string[] {
  const { allow } = manifest.permissions;
  if (allow.length === 0 || !id.endsWith("@inline")) return [];
  return [`Plugin ${name}: its allow rules (${allow.join(", ")}) count only when it is installed`];
}
