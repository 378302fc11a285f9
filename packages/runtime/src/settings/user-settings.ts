import { join } from "node:path";
import type { CatalogOverride } from "../model/catalog-override.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { readJsonFile } from "./json-file.ts";
import type { ParsedJson } from "./json-text.ts";
import { type ProviderSettingsFile, parseProviderSettings } from "./profiles.ts";
import { messageOf } from "../util/message-of.ts";

/** What this file is read for; other keys are only checked. */
const known = ["currentProvider", "providers", "provider"];

/** The profiles of the user's own `settings.json`; empty when there is none. A file that cannot be understood is an error, never ignored. */
export async function loadUserSettings(home: string): Promise<ProviderSettingsFile> {
  const path = join(home, "settings.json");
  return await parseSettings(await readJsonFile(path), path);
}

/** The user's own `models.json`, and beneath it what providers said about their models when they were last asked. */
export async function loadCatalogOverride(home: string): Promise<CatalogOverride | undefined> {
  const path = join(home, "models.json");
  const { values } = await readJsonFile(path);
  const listed = await loadListedModels(home);
  if (Object.keys(values).length === 0) return listed;
  const { parseCatalogOverride } = await import("../model/catalog-override.ts");
  try {
    const own = parseCatalogOverride(values);
    return { models: [...(listed?.models ?? []), ...own.models] };
  } catch (error) {
    throw new RuntimeError("config", `${path}: ${messageOf(error)}`);
  }
}

/** Where it is kept what providers say about their models. */
export const listedFile = "models.listed.json";

/** Lists that were asked for. A file that cannot be understood is only old: it counts as none. */
export async function loadListedModels(home: string): Promise<CatalogOverride | undefined> {
  const path = join(home, listedFile);
  try {
    const { values } = await readJsonFile(path);
    if (Object.keys(values).length === 0) return undefined;
    const { parseCatalogOverride } = await import("../model/catalog-override.ts");
    return parseCatalogOverride({ models: values["models"] });
  } catch (error) {
    if (error instanceof RuntimeError) return undefined;
    throw error;
  }
}

/** Refuses a file that could not be understood. */
export async function parseSettings(file: ParsedJson, path: string): Promise<ProviderSettingsFile> {
  if (Object.keys(file.values).some((key) => !known.includes(key))) {
    const { checkLayer } = await import("./check-layer.ts");
    checkLayer({ ...file, scope: "user", dialect: "outrider", path });
  }
  return parseProviderSettings(file.values, path);
}
