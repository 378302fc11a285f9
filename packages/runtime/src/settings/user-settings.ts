import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CatalogOverride, parseCatalogOverride } from "../model/catalog-override.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { readJsonFile } from "./json-file.ts";
import type { ParsedJson } from "./json-text.ts";
import { type Profile, type ProviderSettingsFile, parseProviderSettings } from "./profiles.ts";

/** What this file is read for; other keys are only checked. */
const known = ["currentProvider", "providers", "provider"];

/** The profiles of the user's own `settings.json`; empty when there is none. A file that cannot be understood is an error, never ignored. */
export async function loadUserSettings(home: string): Promise<ProviderSettingsFile> {
  const path = join(home, "settings.json");
  return await parseSettings(await readJsonFile(path), path);
}

/** The user's own `models.json`: prices and windows the built-in table does not have. */
export async function loadCatalogOverride(home: string): Promise<CatalogOverride | undefined> {
  const path = join(home, "models.json");
  const { values } = await readJsonFile(path);
  if (Object.keys(values).length === 0) return undefined;
  try {
    return parseCatalogOverride(values);
  } catch (error) {
    throw new RuntimeError("config", `${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Adds or replaces a profile; whole or not at all, and for the owner's eyes only. */
export async function saveProfile(home: string, entry: { key: string; profile: Profile; makeCurrent: boolean }): Promise<string> {
  const path = join(home, "settings.json");
  const before = await readJsonFile(path);
  const { providers } = await parseSettings(before, path);
  const next = {
    ...before.values,
    ...(entry.makeCurrent && { currentProvider: entry.key }),
    providers: { ...providers, [entry.key]: entry.profile },
  };
  await parseSettings({ ...before, values: next }, path); // nothing is written that could not be read again
  try {
    await replaceFile(path, `${JSON.stringify(next, null, 2)}\n`);
  } catch (error) {
    throw new RuntimeError("storage-failed", `${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
  return path;
}

async function parseSettings(file: ParsedJson, path: string): Promise<ProviderSettingsFile> {
  if (Object.keys(file.values).some((key) => !known.includes(key))) {
    const { checkLayer } = await import("./check-layer.ts");
    checkLayer({ ...file, scope: "user", dialect: "outrider", path });
  }
  return parseProviderSettings(file.values, path);
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
