import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { editSettings } from "./edit-settings.ts";
import type { Profile } from "./profiles.ts";
import { parseSettings } from "./user-settings.ts";

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
