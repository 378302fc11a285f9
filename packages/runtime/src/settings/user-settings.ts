import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CatalogOverride, parseCatalogOverride } from "../model/catalog-override.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { type Profile, type ProviderSettingsFile, parseProviderSettings } from "./profiles.ts";

const known = ["currentProvider", "providers", "provider"];

/** The user's own `settings.json`; empty when there is none. A file that cannot be understood is an error, never ignored. */
export async function loadUserSettings(home: string): Promise<ProviderSettingsFile> {
  const path = join(home, "settings.json");
  const settings = await readObject(path);
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

/** The user's own `models.json`: prices and windows the built-in table does not have. */
export async function loadCatalogOverride(home: string): Promise<CatalogOverride | undefined> {
  const path = join(home, "models.json");
  const value = await readObject(path);
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
  const settings = await readObject(path);
  const providers = { ...(settings["providers"] as Record<string, unknown> | undefined), [entry.key]: entry.profile }; // checked by the loader before
  const next = { ...settings, ...(entry.makeCurrent && { currentProvider: entry.key }), providers };
  const temporary = `${path}.${randomUuid()}.tmp`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(temporary, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, path);
  return path;
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs rejects with nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw new RuntimeError("config", `${path} cannot be read: ${message}`);
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new RuntimeError("config", `${path} is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  throw new RuntimeError("config", `${path} must hold a JSON object`);
}
