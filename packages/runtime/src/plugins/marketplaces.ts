import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { isInside } from "../util/is-inside.ts";
import { replaceFile } from "../util/replace-file.ts";
import { fetchGit, type GitWays } from "./fetch-git.ts";
import { fetchUrl } from "./fetch-url.ts";
import { removeFrom, withPluginHome } from "./plugin-home.ts";
import { checkNamedPlace } from "./named-place.ts";
import { isMarketplaceName, isPluginName } from "./plugin-name.ts";
import { type PluginSource, toSource } from "./plugin-source.ts";
import { bundlePath, readBundleJson } from "./read-bundle.ts";
import { copyBundle } from "./stage-bundle.ts";

/** A list of plugins and where each of them is. */
export type Marketplace = {
  readonly name: string;
  readonly source: PluginSource;
  /** Where its files are; absent for one that settings name and nobody has fetched. */
  readonly path?: string | undefined;
  readonly lastUpdated?: string | undefined;
};

export type MarketplaceEntry = {
  readonly marketplace: string;
  readonly name: string;
  readonly description: string;
  readonly version: string | undefined;
  readonly category: string | undefined;
  readonly keywords: readonly string[];
  readonly value: JsonObject;
};

export type MarketplaceOptions = GitWays & {
  readonly home: string;
  /** `extraKnownMarketplaces` of the settings. */
  readonly declared?: JsonObject | undefined;
  readonly now?: (() => number) | undefined;
};

/** A `marketplace.json` is a list: more than this is none. */
const maxFile = 5 * 1024 * 1024;
const file = ".claude-plugin/marketplace.json";

/** Marketplaces that somebody has added. Nothing is fetched but by `add`, `update` and what an installation needs. */
export class MarketplaceClient {
  readonly #options: MarketplaceOptions;

  constructor(options: MarketplaceOptions) {
    this.#options = options;
  }

  list(): Marketplace[] {
    const known = readKnown(this.#options.home);
    const declared = Object.entries(this.#options.declared ?? {}).flatMap(([name, value]): Marketplace[] => {
      if (known.some((one) => one.name === name) || !isMarketplaceName(name) || !isJsonObject(value)) return [];
      try {
        return [{ name, source: toSource(value["source"], { local: true }) }];
      } catch {
        return []; // who wants it is told
      }
    });
    return [...known, ...declared];
  }

  async add(source: PluginSource): Promise<Marketplace> {
    return await this.#fetch(source, undefined);
  }

  /** Fetches it again. */
  async update(name: string): Promise<Marketplace> {
    return await this.#fetch(this.#find(name).source, name);
  }

  async remove(name: string): Promise<void> {
    const { home } = this.#options;
    const found = readKnown(home).find((one) => one.name === name);
    if (!found) throw new RuntimeError("not-found", `There is no marketplace ${name}`, { hint: this.#hint() });
    await withPluginHome(home, async () => {
      await this.#write(readKnown(home).filter((one) => one.name !== name));
      removeFrom(home, join(home, "marketplaces", name));
    });
  }

  entries(name: string): readonly MarketplaceEntry[] {
    const { path } = this.#find(name);
    if (path === undefined)
      throw new RuntimeError("not-found", `The marketplace ${name} has not been fetched`, {
        hint: `outrider plugins marketplace update ${name}`,
      });
    return readMarketplace(path).entries;
  }

  /** By name, keyword, category and description. A marketplace that cannot be read costs its own results, and is told. */
  search(words: readonly string[]): { readonly entries: readonly MarketplaceEntry[]; readonly problems: readonly string[] } {
    const problems: string[] = [];
    const all = this.list().flatMap(({ name }) => {
      try {
        return this.entries(name);
      } catch (error) {
        problems.push(`${name}: ${toRuntimeError(error).message}`);
        return [];
      }
    });
    const wanted = words.map((word) => word.toLowerCase());
    const entries = all.filter((entry) => {
      const text = [entry.name, entry.category ?? "", entry.description, ...entry.keywords].join("\n").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    return { entries, problems };
  }

  /** Where a plugin is, as its marketplace says. One that settings name is fetched first. */
  async find(plugin: string, marketplace: string): Promise<{ readonly source: PluginSource; readonly entry: JsonObject }> {
    const known = this.#find(marketplace);
    const { path = "" } = known.path === undefined ? await this.#fetch(known.source, marketplace) : known;
    const { entries, pluginRoot } = readMarketplace(path);
    const found = entries.find(({ name }) => name === plugin);
    if (!found) throw new RuntimeError("not-found", `The marketplace ${marketplace} has no plugin ${plugin}`);
    const { source: written } = found.value;
    const isBare = typeof written === "string" && !written.startsWith("./") && pluginRoot !== undefined;
    const source = toSource(isBare ? `${pluginRoot}/${written}` : written, { base: path, local: false });
    if (source.type === "folder") refuseOutside(path, source.path);
    await checkNamedPlace(source, known.source);
    return { source, entry: found.value };
  }

  #find(name: string): Marketplace {
    const found = this.list().find((one) => one.name === name);
    if (found) return found;
    throw new RuntimeError("not-found", `There is no marketplace ${name}`, { hint: this.#hint() });
  }

  #hint(): string {
    const names = this.list().map(({ name }) => name);
    return names.length === 0 ? "outrider plugins marketplace add SOURCE adds one" : `There are ${names.join(", ")}`;
  }

  async #fetch(source: PluginSource, expected: string | undefined): Promise<Marketplace> {
    const { home, now = Date.now } = this.#options;
    return await withPluginHome(home, async (staging) => {
      const fetched = await this.#fill(source, staging);
      const { name } = readMarketplace(fetched);
      if (expected !== undefined && name !== expected)
        throw new RuntimeError("config", `The source of the marketplace ${expected} is called ${name} now`);
      const other = readKnown(home).find((one) => one.name.toLowerCase() === name.toLowerCase());
      if (other && expected === undefined && JSON.stringify(other.source) !== JSON.stringify(source))
        throw new RuntimeError("usage", `There is a marketplace ${other.name} already, from elsewhere`, {
          hint: `outrider plugins marketplace remove ${other.name} makes room`,
        });
      const path = source.type === "folder" ? fetched : join(home, "marketplaces", name);
      if (source.type !== "folder") moveInto(fetched, path);
      const made: Marketplace = { name, source, path, lastUpdated: new Date(now()).toISOString() };
      await this.#write([...readKnown(home).filter((one) => one.name !== name), made]);
      return made;
    });
  }

  async #fill(source: PluginSource, staging: string): Promise<string> {
    const { signal, env } = this.#options;
    const path = join(staging, "marketplace");
    switch (source.type) {
      case "folder":
        if (!existsSync(source.path)) throw new RuntimeError("not-found", `There is no folder ${source.path}`);
        return realpathSync(source.path);
      case "file": {
        const isLocal = isAbsolute(source.location);
        const text = isLocal ? readFileSync(source.location) : await fetchUrl(source.location, { maxBytes: maxFile, signal });
        makeFolder(dirname(join(path, file)), 0o777);
        writeFileSync(join(path, file), text);
        return path;
      }
      case "git":
        await fetchGit(source, join(staging, "clone"), { signal, env });
        mkdirSync(path);
        copyBundle(join(staging, "clone", source.path ?? "."), path);
        return path;
      default:
        throw new RuntimeError("usage", "A marketplace is a folder, a repository or the address of its marketplace.json");
    }
  }

  async #write(known: readonly Marketplace[]): Promise<void> {
    const path = knownFile(this.#options.home);
    if (known.length === 0) return rmSync(path, { force: true });
    const values = Object.fromEntries(
      known.map(({ name, source, path: installLocation, lastUpdated }) => [name, { source, installLocation, lastUpdated }]),
    );
    await replaceFile(path, `${JSON.stringify(values, null, 2)}\n`, { mode: 0o644, isLasting: true });
  }
}

function knownFile(home: string): string {
  return join(home, "known_marketplaces.json");
}

function readKnown(home: string): Marketplace[] {
  if (!existsSync(knownFile(home))) return [];
  let values: unknown;
  try {
    values = JSON.parse(readFileSync(knownFile(home), "utf8"));
  } catch {
    throw new RuntimeError("config", `${knownFile(home)} is no JSON`, { hint: "Move it away, and add its marketplaces again" });
  }
  return Object.entries(isJsonObject(values) ? values : {}).flatMap(([name, value]): Marketplace[] => {
    const { source, installLocation: path, lastUpdated } = isJsonObject(value) ? value : {};
    if (!isMarketplaceName(name) || !isJsonObject(source) || typeof path !== "string") return [];
    return [{ name, source: source as unknown as PluginSource, path, lastUpdated: String(lastUpdated ?? "") }]; // we wrote it
  });
}

/** The old one goes only when the new one is there. */
function moveInto(from: string, to: string): void {
  makeFolder(dirname(to), 0o755);
  rmSync(to, { recursive: true, force: true });
  renameSync(from, to);
}

type ReadMarketplace = {
  readonly name: string;
  readonly pluginRoot: string | undefined;
  readonly entries: readonly MarketplaceEntry[];
};

/** Throws a `config` error for a file that is none; an entry that is wrong is left out. */
function readMarketplace(root: string): ReadMarketplace {
  const path = join(root, file);
  const values = readBundleJson(root, file, maxFile);
  if (!values) throw new RuntimeError("not-found", `${path} is not there`);
  const { name, plugins, metadata } = values;
  if (!isMarketplaceName(name))
    throw new RuntimeError("config", `${path}: its name cannot be ${JSON.stringify(name)?.slice(0, 80)}`);
  if (!Array.isArray(plugins)) throw new RuntimeError("config", `${path}: plugins must be a list`);
  const pluginRoot =
    isJsonObject(metadata) && typeof metadata["pluginRoot"] === "string" ? bundlePath(metadata["pluginRoot"]) : undefined;
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return {
    name,
    pluginRoot,
    entries: plugins.filter(isJsonObject).flatMap((value): MarketplaceEntry[] => {
      const { name: plugin, description, version, category, keywords, tags } = value;
      if (!isPluginName(plugin)) return [];
      return [
        {
          ...{ marketplace: name, name: plugin, description: text(description) ?? "", version: text(version) },
          ...{ category: text(category), keywords: [...texts(keywords), ...texts(tags)], value },
        },
      ];
    }),
  };
}

function refuseOutside(root: string, path: string): void {
  if (!existsSync(path)) throw new RuntimeError("not-found", `${path} is not there`);
  if (!isInside(realpathSync(root), realpathSync(resolve(path))))
    throw new RuntimeError("config", `${path} leads out of its marketplace`);
}
