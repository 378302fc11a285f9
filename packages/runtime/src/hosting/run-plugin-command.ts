import { join } from "node:path";
import type { CommandResult } from "../commands/command.ts";
import { splitArguments } from "../commands/skills/substitute.ts";
import { BundlePluginInstaller, type PluginInspection } from "../plugins/install.ts";
import { MarketplaceClient } from "../plugins/marketplaces.ts";
import { describeSource, parseSource, type PluginSource } from "../plugins/plugin-source.ts";
import type { InstalledPlugin } from "../plugins/registry.ts";
import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { defined } from "../util/defined.ts";
import { switchPlugin } from "./plugin-settings.ts";
import { type Project, resolveProject } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

const usage =
  "There is /plugin list, install SOURCE [--sha256 HASH], uninstall NAME, enable NAME, disable NAME, and marketplace list, add SOURCE, remove NAME, update NAME, search WORDS";

type Shelf = {
  readonly installer: BundlePluginInstaller;
  readonly marketplaces: MarketplaceClient;
  readonly enabled: Readonly<Record<string, boolean>>;
  readonly settings: { readonly path: string; readonly scope: "user" };
  readonly cwd: string;
};

/** `/plugin …`: what `outrider plugins` does with plugins of the user. What is installed or switched counts after `/reload-plugins`. */
export async function runPluginCommand(args: string, around: Surroundings, project: Project): Promise<CommandResult> {
  const [action = "list", ...words] = splitArguments(args);
  const shelf = await openShelf(around, project);
  const [name] = words;
  if (action === "list" && words.length === 0) return list(shelf);
  if (action === "install" && name !== undefined) return await install(shelf, words);
  if (action === "marketplace") return await marketplace(shelf, words);
  if (name === undefined || words.length > 1) return { success: false, message: usage };
  if (action === "enable" || action === "disable") return await turn(shelf, name, action === "enable");
  if (action === "uninstall" || action === "remove") return await uninstall(shelf, name);
  return { success: false, message: usage };
}

async function openShelf(around: Surroundings, project: Project): Promise<Shelf> {
  const { settings } = await resolveProject(project);
  const { disableAllHooks, allowedHttpHookUrls } = settings;
  const hookLimits = { disableAllHooks, ...defined({ allowedHttpHookUrls }) };
  const ways = { home: join(around.outriderHome, "plugins"), signal: new AbortController().signal, env: around.env };
  return {
    installer: new BundlePluginInstaller({ ...ways, hookLimits }),
    marketplaces: new MarketplaceClient({ ...ways, declared: settings.extraKnownMarketplaces }),
    enabled: settings.enabledPlugins,
    settings: { path: join(around.outriderHome, "settings.json"), scope: "user" },
    cwd: project.cwd,
  };
}

function list({ installer, enabled }: Shelf): CommandResult {
  const plugins = installer.list().map(({ id, version }) => ({ id, version, enabled: enabled[id] === true }));
  const lines = plugins.map(({ id, version, enabled: on }) => `${id} ${version} ${on ? "enabled" : "disabled"}`);
  return said(lines.join("\n") || "No plugin is installed", { plugins });
}

/** Nothing is installed that was not shown: the hash of what was shown says yes to exactly that. */
async function install(shelf: Shelf, words: readonly string[]): Promise<CommandResult> {
  const [wanted = "", flag, hash, ...more] = words;
  if (more.length > 0 || (flag !== undefined && (flag !== "--sha256" || hash === undefined)))
    return { success: false, message: usage };
  const contentHash = hash?.replace(/^(?:sha256:)?/, "sha256:");
  const place = await placeOf(shelf, wanted);
  const result = await shelf.installer.install({ ...place, contentHash, accept: async () => contentHash !== undefined });
  const { inspection } = result;
  const { id, version, plugin, contentHash: content } = inspection;
  if (result.type === "declined")
    return {
      success: false,
      message: `${describe(inspection, place.source)}\n/plugin install ${wanted} --sha256 ${content} installs exactly this`,
    };
  const isOn = plugin.manifest.defaultEnabled;
  if (result.type === "installed" && isOn) await switchPlugin({ ...shelf.settings, id, on: true });
  return said(`${id} ${version} is installed. /reload-plugins makes it count here`, { id, version, contentHash: content });
}

type Place = { readonly source: PluginSource; readonly marketplace: string; readonly entry?: JsonObject };

async function placeOf({ marketplaces, cwd }: Shelf, wanted: string): Promise<Place> {
  const [, name, marketplace] = /^([\w][\w.-]*)@([\w][\w.-]*)$/.exec(wanted) ?? [];
  if (name === undefined || marketplace === undefined) return { source: parseSource(wanted, cwd), marketplace: "direct" };
  return { ...(await marketplaces.find(name, marketplace)), marketplace };
}

function describe({ id, version, plugin, executors }: PluginInspection, source: PluginSource): string {
  const runs = executors.map(({ kind, what }) => `  ${kind.padEnd(13)} ${what}`);
  return [
    `Plugin: ${id} ${version}`,
    `From: ${describeSource(source)}`,
    ...plugin.warnings.map((warning) => `Note: ${warning.replaceAll(`${plugin.path}/`, "")}`),
    ...(runs.length === 0 ? ["It runs nothing."] : ["When it counts, this runs or is allowed:", ...runs]),
  ].join("\n");
}

async function turn({ installer, settings }: Shelf, name: string, on: boolean): Promise<CommandResult> {
  const { id } = found(installer, name);
  await switchPlugin({ ...settings, id, on });
  return said(`${id} is ${on ? "enabled" : "disabled"}. /reload-plugins makes it count here`, { id, enabled: on });
}

async function uninstall({ installer, settings }: Shelf, name: string): Promise<CommandResult> {
  const { id } = found(installer, name);
  await switchPlugin({ ...settings, id, on: undefined });
  await installer.remove(id);
  return said(`${id} is removed. /reload-plugins takes its parts away here`, { id });
}

async function marketplace({ marketplaces, cwd }: Shelf, [action = "list", ...words]: readonly string[]): Promise<CommandResult> {
  const [name] = words;
  if (action === "list" && words.length === 0) {
    const all = marketplaces.list().map((one) => ({ name: one.name, source: describeSource(one.source) }));
    const lines = all.map((one) => `${one.name} ${one.source}`);
    return said(lines.join("\n") || "No marketplace is known", { marketplaces: all });
  }
  if (action === "search") {
    const { entries, problems } = marketplaces.search(words);
    const lines = entries.map((entry) => `${entry.name}@${entry.marketplace}: ${entry.description}`);
    return said([...lines, ...problems].join("\n") || "Nothing was found", { found: entries.map((entry) => entry.name) });
  }
  if (name === undefined || words.length > 1) return { success: false, message: usage };
  if (action === "add") return said(`${(await marketplaces.add(parseSource(name, cwd))).name} is added`);
  if (action === "update") return said(`${(await marketplaces.update(name)).name} is what its source has`);
  if (action !== "remove") return { success: false, message: usage };
  await marketplaces.remove(name);
  return said(`${name} is removed`);
}

/** By its whole id, or by its name where only one has it. */
function found(installer: BundlePluginInstaller, name: string): InstalledPlugin {
  const named = installer.list().filter(({ id }) => id === name || id.split("@")[0] === name);
  const [only] = named;
  if (only && named.length === 1) return only;
  throw new RuntimeError("not-found", only ? `${name} is the name of several` : `${name} is not installed`);
}

function said(message: string, data?: CommandResult["data"]): CommandResult {
  return { success: true, message, ...defined({ data }) };
}
