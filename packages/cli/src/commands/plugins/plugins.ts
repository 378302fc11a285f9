import { join, resolve } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { nearest, resolveLayers } from "@outrider/runtime/host";
import {
  BundlePluginInstaller,
  describeSource,
  type InstalledPlugin,
  loadPlugin,
  MarketplaceClient,
  parseSource,
  pluginExecutors,
  configurePlugin,
  switchPlugin,
} from "@outrider/runtime/plugins";
import { exitCodes } from "../../exit-codes.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { lookAtProject } from "../../request/project.ts";
import { print, visible } from "../../terminal/visible.ts";
import { makePlugin } from "./init.ts";
import { type Desk, describeExecutors, install, update } from "./install.ts";
import { runMarketplace } from "./marketplace.ts";

const usage = `Usage:
  outrider plugins install SOURCE [--yes] [--sha256 HASH] [--ref REF]   from a folder, archive, repository, owner/repo, or NAME@MARKETPLACE
  outrider plugins list|show NAME [--json]            show what is installed, whether it is enabled, and what it runs
  outrider plugins enable|disable NAME                turn it on or off
  outrider plugins configure NAME [KEY=VALUE…]        show or set its options; $ENV:VARIABLE for a secret
  outrider plugins update [NAME] [--yes] [--older]    get the current version; shows what it would newly run
  outrider plugins remove NAME                        remove it; also uninstall
  outrider plugins validate DIR                       find mistakes in a plugin, and show what it would run
  outrider plugins init DIR                           create a plugin with a skill in it; also new
  outrider plugins search [WORD…]                     search the marketplaces you added
  outrider plugins marketplace add SOURCE|list|update [NAME]|remove NAME|search [WORD…]

--scope project uses .outrider/plugins and .outrider/settings.json of the project, which count once it is trusted.
Before anything is installed, you are shown what it would run and asked to approve. Without a terminal, pass --yes, or --sha256 for
exactly the content that was shown. Only install, update, and marketplace add and update download anything.
`;

/** Looks after plugins and marketplaces. */
export async function runPlugins(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, {
    switches: ["--json", "--yes", "-y", "--older", "--help", "-h"],
    values: ["--cwd", "--scope", "-s", "--sha256", "--ref"],
  });
  if (words.has("--help") || words.has("-h")) return await say(usage.trimEnd());
  const [action = "list", ...names] = words.rest;
  const desk = await openDesk(words);
  const run = actions[action];
  const unknown = names.find((name) => name.startsWith("-"));
  if (run && unknown === undefined) return await run(desk, names);
  const guess = nearest(action, Object.keys(actions));
  const meant = run ? "" : guess ? `; did you mean ${guess}?` : "";
  throw new RuntimeError("usage", `plugins does not take ${visible(unknown ?? action)}${meant}\n${usage}`);
}

const actions: Readonly<Record<string, (desk: Desk, names: readonly string[]) => Promise<number>>> = {
  install: async (desk, names) => await install(desk, one(names, "a source")),
  i: async (desk, names) => await install(desk, one(names, "a source")),
  list,
  ls: list,
  show,
  details: show,
  enable: async (desk, names) => await turn(desk, one(names, "a name"), true),
  disable: async (desk, names) => await turn(desk, one(names, "a name"), false),
  configure,
  update: async (desk, names) =>
    await update(desk, names.length === 0 ? desk.installer.list() : [found(desk, one(names, "a name"))]),
  remove,
  uninstall: remove,
  rm: remove,
  validate,
  init: async (desk, names) => await makePlugin(desk, one(names, "a folder")),
  new: async (desk, names) => await makePlugin(desk, one(names, "a folder")),
  prune: notHere("Nothing is installed here but what somebody names, so that nothing is left over; outrider plugins remove NAME"),
  autoremove: notHere("Nothing is installed here but what somebody names; outrider plugins remove NAME"),
  tag: notHere("A release is a tag of its repository: git tag NAME--vVERSION && git push --tags"),
  test: notHere(
    "Hooks modules are not loaded here, so that there is nothing to test; outrider plugins validate DIR checks the rest",
  ),
  eval: notHere("Plugins are tried by a batch with and without them: outrider batch FILE --plugin-dir DIR"),
  marketplace: runMarketplace,
  search: async (desk, names) => await runMarketplace(desk, ["search", ...names]),
};

/** Actions of Claude Code's that mean nothing here, with what to do. */
function notHere(words: string): () => Promise<never> {
  return async () => {
    throw new RuntimeError("usage", words);
  };
}

async function openDesk(words: OwnWords): Promise<Desk> {
  const cwd = words.value("--cwd") ?? ".";
  const { root, outriderHome, layers, trust } = await lookAtProject({ cwd });
  const scope = words.value("--scope") ?? words.value("-s") ?? "user";
  if (scope !== "user" && scope !== "project" && scope !== "local")
    throw new RuntimeError("usage", `--scope is user, project or local, and not ${visible(scope)}`);
  const { settings } = await resolveLayers(layers, { trusted: trust.trusted });
  const isUser = scope === "user";
  const base = isUser ? outriderHome : join(root, ".outrider");
  const ways = { home: join(base, "plugins"), signal: new AbortController().signal, env: process.env };
  const { disableAllHooks, allowedHttpHookUrls } = settings;
  const hookLimits = { disableAllHooks, ...(allowedHttpHookUrls && { allowedHttpHookUrls }) };
  return {
    installer: new BundlePluginInstaller({ ...ways, hookLimits, isShared: !isUser }),
    hookLimits,
    marketplaces: new MarketplaceClient({
      ...ways,
      home: join(outriderHome, "plugins"),
      declared: settings.extraKnownMarketplaces,
    }),
    enabled: settings.enabledPlugins,
    userSettings: join(outriderHome, "settings.json"),
    settings: { path: join(base, scope === "local" ? "settings.local.json" : "settings.json"), scope },
    home: ways.home,
    json: words.has("--json"),
    yes: words.has("--yes") || words.has("-y"),
    older: words.has("--older"),
    contentHash: words.value("--sha256")?.replace(/^(?:sha256:)?/, "sha256:"),
    ref: words.value("--ref"),
    toSource: (text) => parseSource(text, resolve(cwd)),
  };
}

/** Values are the user's, wherever the plugin is installed. */
async function configure(desk: Desk, [name = "", ...pairs]: readonly string[]): Promise<number> {
  const plugin = found(desk, one([name].filter(Boolean), "a name"));
  const [own = "", marketplace = ""] = plugin.id.split("@");
  const { manifest } = await loadPlugin({ path: plugin.path, name: own, marketplace, pluginHome: desk.home });
  const { userConfig } = manifest;
  const values = pairs.map((pair) => {
    const [, key = "", text = ""] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
    const option = Object.hasOwn(userConfig, key) ? userConfig[key] : undefined;
    if (!option)
      throw new RuntimeError(
        "usage",
        `${plugin.id} takes ${Object.keys(userConfig).join(", ") || "no values"}, not ${visible(pair)}`,
      );
    return [key, toValue(text, option.type)] as const;
  });
  if (values.length > 0) {
    await configurePlugin({ path: desk.userSettings, id: plugin.id, values: Object.fromEntries(values) });
    return await say(`${values.map(([key]) => key).join(", ")} of ${plugin.id} counts from the next session on`);
  }
  const lines = Object.entries(userConfig).map(([key, { type, title, description, required, sensitive }]) => {
    const facts = [type, ...(required ? ["needed"] : []), ...(sensitive ? ["secret"] : [])].join(", ");
    return `${key} (${facts}): ${[title, description].filter(Boolean).join(". ")}`;
  });
  return await say(
    desk.json ? JSON.stringify(userConfig, null, 2) : lines.map(visible).join("\n") || `${plugin.id} takes no values`,
  );
}

function toValue(text: string, type: string): string | number | boolean {
  if (type === "number" && text !== "" && Number.isFinite(Number(text))) return Number(text);
  if (type === "boolean" && /^(?:true|false)$/.test(text)) return text === "true";
  if (text !== "" && (type === "number" || type === "boolean")) throw new RuntimeError("usage", `${visible(text)} is no ${type}`);
  return text;
}

async function list(desk: Desk, names: readonly string[]): Promise<number> {
  if (names.length > 0) throw new RuntimeError("usage", `list takes no names\n${usage}`);
  const rows = desk.installer.list().map((plugin) => rowOf(desk, plugin));
  if (desk.json) return await say(JSON.stringify(rows, null, 2));
  const lines = rows.map(({ id, version, state, from }) => `${id}  ${version}  ${state}  ${from}`);
  return await say(lines.map(visible).join("\n") || "No plugin is installed");
}

function rowOf(
  { installer, enabled }: Desk,
  plugin: InstalledPlugin,
): Record<string, string | boolean> & { readonly id: string } {
  const { id, version, path, contentHash = "", commit = "", from, installedAt, lastUpdated } = plugin;
  const isEnabled = enabled[id] === true;
  const state = installer.isUnchanged(plugin) ? (isEnabled ? "enabled" : "disabled") : "changed since it was accepted";
  const source = from ? describeSource(from) : `marketplace ${id.slice(id.lastIndexOf("@") + 1)}`;
  return { id, version, state, enabled: isEnabled, from: source, path, contentHash, commit, installedAt, lastUpdated };
}

async function show(desk: Desk, names: readonly string[]): Promise<number> {
  const plugin = found(desk, one(names, "a name"));
  const row = rowOf(desk, plugin);
  const [name = "", marketplace = ""] = plugin.id.split("@");
  const loaded = await loadPlugin({ path: plugin.path, name, marketplace, pluginHome: desk.home, hookLimits: desk.hookLimits });
  const executors = await pluginExecutors(loaded);
  if (desk.json)
    return await say(JSON.stringify({ ...row, manifest: loaded.manifest, warnings: loaded.warnings, executors }, null, 2));
  const facts = Object.entries(row).flatMap(([key, value]) => (value === "" ? [] : [`${key}: ${value}`]));
  return await say([...facts, ...loaded.warnings, ...describeExecutors(executors)].map(visible).join("\n"));
}

async function turn(desk: Desk, name: string, on: boolean): Promise<number> {
  const { id } = found(desk, name);
  await switchPlugin({ ...desk.settings, id, on });
  return await say(`${id} is ${on ? "enabled" : "disabled"} (${visible(desk.settings.path)})`);
}

async function remove(desk: Desk, names: readonly string[]): Promise<number> {
  const { id } = found(desk, one(names, "a name"));
  await switchPlugin({ ...desk.settings, id, on: undefined });
  await desk.installer.remove(id);
  return await say(`${id} is removed`);
}

async function validate(desk: Desk, names: readonly string[]): Promise<number> {
  const source = desk.toSource(one(names, "a folder"));
  if (source.type !== "folder") throw new RuntimeError("usage", "validate takes a folder");
  const plugin = await loadPlugin({
    path: source.path,
    marketplace: "inline",
    pluginHome: desk.home,
    hookLimits: desk.hookLimits,
  });
  const executors = await pluginExecutors(plugin);
  const unused = plugin.unused.map((part) => `${part} means nothing here`);
  const problems = [...plugin.warnings, ...plugin.unheardHooks, ...unused];
  if (desk.json) await say(JSON.stringify({ name: plugin.name, manifest: plugin.manifest, problems, executors }, null, 2));
  else await say([...problems, ...describeExecutors(executors)].map(visible).join("\n") || `${plugin.name} is as it should be`);
  return plugin.warnings.length === 0 ? exitCodes.success : exitCodes.error;
}

/** By its whole id, or by its name where only one has it. */
function found({ installer }: Desk, name: string): InstalledPlugin {
  const all = installer.list();
  const named = all.filter(({ id }) => id === name || id.split("@")[0] === name);
  const [only] = named;
  if (only && named.length === 1) return only;
  const ids = all.map(({ id }) => id);
  const hint = only
    ? `There are ${named.map(({ id }) => id).join(" and ")}`
    : ids.length === 0
      ? ""
      : `There are ${ids.join(", ")}`;
  throw new RuntimeError("not-found", only ? `${visible(name)} is the name of several` : `${visible(name)} is not installed`, {
    ...(hint !== "" && { hint }),
  });
}

function one([name, ...more]: readonly string[], what: string): string {
  if (name !== undefined && more.length === 0) return name;
  throw new RuntimeError("usage", `It takes ${what}\n${usage}`);
}

async function say(text: string): Promise<number> {
  await print(`${text}\n`);
  return exitCodes.success;
}
