import { join } from "node:path";
import { type CatalogOverride, parseCatalogOverride } from "../model/catalog-override.ts";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
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

/** Adds or replaces a profile. */
export async function saveProfile(home: string, entry: { key: string; profile: Profile; makeCurrent: boolean }): Promise<string> {
  return await editUserSettings(home, (values) => ({
    ...values,
    ...(entry.makeCurrent && { currentProvider: entry.key }),
    providers: { ...profilesIn(values), [entry.key]: entry.profile },
  }));
}

/** Makes a profile the current one. */
export async function chooseProfile(home: string, key: string): Promise<string> {
  return await editUserSettings(home, (values) => {
    refuseUnknown(values, key);
    return { ...values, currentProvider: key };
  });
}

export async function removeProfile(home: string, key: string): Promise<string> {
  return await editUserSettings(home, (values) => {
    refuseUnknown(values, key);
    const { [key]: _, ...providers } = profilesIn(values);
    const { currentProvider, ...rest } = values;
    return { ...(currentProvider === key ? rest : values), providers };
  });
}

/** Changes the user's own settings file, for the owner's eyes only, and answers its path. */
async function editUserSettings(home: string, change: (values: JsonObject) => JsonObject): Promise<string> {
  const path = join(home, "settings.json");
  const { editSettings } = await import("./edit-settings.ts");
  await editSettings(path, { check: (file) => parseSettings(file, path), change, mode: 0o600 });
  return path;
}

function profilesIn(values: JsonObject): JsonObject {
  return isJsonObject(values["providers"]) ? values["providers"] : {};
}

function refuseUnknown(values: JsonObject, key: string): void {
  const keys = Object.keys(profilesIn(values));
  if (keys.includes(key)) return;
  const guess = nearest(key, keys);
  const known = keys.length === 0 ? "There is none yet: outrider providers add" : `There is: ${keys.join(", ")}`;
  throw new RuntimeError("not-found", `There is no profile ${JSON.stringify(key)}${guess ? `; did you mean ${guess}?` : ""}`, {
    hint: known,
  });
}

async function parseSettings(file: ParsedJson, path: string): Promise<ProviderSettingsFile> {
  if (Object.keys(file.values).some((key) => !known.includes(key))) {
    const { checkLayer } = await import("./check-layer.ts");
    checkLayer({ ...file, scope: "user", dialect: "outrider", path });
  }
  return parseProviderSettings(file.values, path);
}
