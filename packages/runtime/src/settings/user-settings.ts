import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CatalogOverride, parseCatalogOverride } from "../model/catalog-override.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { readJsonObject } from "./json-file.ts";
import { type Profile, type ProviderSettingsFile, parseProviderSettings } from "./profiles.ts";

const known = ["currentProvider", "providers", "provider"];

/** The user's own `settings.json`; empty when there is none. A file that cannot be understood is an error, never ignored. */
export async function loadUserSettings(home: string): Promise<ProviderSettingsFile> {
  const path = join(home, "settings.json");
  return parseSettings(await readJsonObject(path), path);
}

/** The user's own `models.json`: prices and windows the built-in table does not have. */
export async function loadCatalogOverride(home: string): Promise<CatalogOverride | undefined> {
  const path = join(home, "models.json");
  const value = await readJsonObject(path);
  if (Object.keys(value).length === 0) return undefined;
  try {
    return parseCatalogOverride(value);
  } catch (error) {
    throw new RuntimeError("config", `${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Adds or replaces a profile; whole or not at all, and for the owner's eyes only. */
export async function saveProfile(home: string, entry: { key: string; profile: Profile; makeCurrent: boolean }): Promise<string> {
  const path = join(home, "settings.json");
  const settings = await readJsonObject(path);
  const { providers } = parseSettings(settings, path);
  const next = {
    ...settings,
    ...(entry.makeCurrent && { currentProvider: entry.key }),
    providers: { ...providers, [entry.key]: entry.profile },
  };
  parseSettings(next, path); // nothing is written that could not be read again
  try {
    await replaceFile(path, `${JSON.stringify(next, null, 2)}\n`);
  } catch (error) {
    throw new RuntimeError("storage-failed", `${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
  return path;
}

function parseSettings(settings: Readonly<Record<string, unknown>>, path: string): ProviderSettingsFile {
  for (const key of Object.keys(settings)) {
    if (known.includes(key)) continue;
    const guess = nearest(key, known);
    throw new RuntimeError(
      "config",
      `${path} has no setting ${JSON.stringify(key)}${guess ? `; did you mean ${guess}?` : `. Known: ${known.join(", ")}`}`,
    );
  }
  return parseProviderSettings(settings, path);
}

async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target = await realpath(path).catch(() => path); // a link stays one: people keep their settings elsewhere
  const temporary = `${target}.${randomUuid()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
