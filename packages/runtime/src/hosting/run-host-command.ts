import type { CommandResult } from "../commands/command.ts";
import { splitArguments } from "../commands/skills/substitute.ts";
import { providerDefinitions, requireProvider } from "../model/providers/definitions.ts";
import { chooseProfile, saveProfile } from "../settings/edit-profiles.ts";
import { checkNamedProvider } from "../settings/load-provider.ts";
import { runUserLocal } from "../settings/user-local/run-user-local.ts";
import { loadUserSettings } from "../settings/user-settings.ts";
import { defined } from "../util/defined.ts";
import type { Surroundings } from "./surroundings.ts";

export async function runUserLocalCommand(
  args: string,
  { outriderHome }: Surroundings,
  repository: string,
): Promise<CommandResult> {
  const { format, message, data } = await runUserLocal(splitArguments(args), { root: outriderHome, repository });
  return { success: true, message: format === "json" ? JSON.stringify(data, null, 2) : message, data };
}

export async function runProviderCommand(args: string, around: Surroundings): Promise<CommandResult> {
  const [action = "list", name, ...more] = splitArguments(args);
  if (action === "list" && name === undefined) return await list(around);
  if (action === "use" && name !== undefined && more.length === 0) {
    const path = await chooseProfile(around.outriderHome, name);
    return {
      success: true,
      message: `${name} is the current profile from the next session on (${path})`,
      data: { currentProvider: name },
    };
  }
  if (action === "add" && name !== undefined) return await add(around, name, more);
  if (action === "test" && more.length === 0) return await test(around, name);
  return {
    success: false,
    message: "There is /provider, and /provider list, use PROFILE, test [NAME] and add PROFILE PROVIDER [MODEL [VARIABLE]]",
  };
}

/** What is typed is on record: a profile names the variable that holds its key. */
async function add({ outriderHome }: Surroundings, key: string, words: readonly string[]): Promise<CommandResult> {
  const [type, model, variable, ...more] = words;
  if (type === undefined || more.length > 0)
    return { success: false, message: "A profile and a provider are needed: /provider add PROFILE PROVIDER [MODEL [VARIABLE]]" };
  const definition = requireProvider(type);
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(key))
    return { success: false, message: `${key} is no name for a profile: letters, digits, - and .` };
  if (variable !== undefined && !/^[A-Z_][A-Z0-9_]*$/.test(variable))
    return {
      success: false,
      message: "The last word is the name of a variable such as OPENAI_API_KEY: a key itself would be on record",
    };
  const held = variable ?? definition.keyVariables[0];
  const apiKey = held === undefined ? undefined : `$ENV:${held}`;
  const profile = { type: definition.name, ...defined({ model, apiKey }) };
  const path = await saveProfile(outriderHome, { key, profile, makeCurrent: false });
  const shown = [definition.name, model].filter(Boolean).join("/");
  const from = held === undefined ? "" : ` with the key in ${held}`;
  return {
    success: true,
    message: `${key} is set up: ${shown}${from} (${path}). /provider use ${key} chooses it`,
    data: { profile: key },
  };
}

async function list({ outriderHome, env }: Surroundings): Promise<CommandResult> {
  const { providers, currentProvider } = await loadUserSettings(outriderHome);
  const profiles = Object.entries(providers).map(([key, { type, model }]) => ({
    key,
    type,
    model,
    isCurrent: key === currentProvider,
  }));
  const usable = providerDefinitions
    .filter(({ keyVariables, keyOptional }) => keyOptional || keyVariables.some((variable) => env[variable]?.trim()))
    .map(({ name }) => name);
  const lines = profiles.map(
    ({ key, type, model, isCurrent }) => `${isCurrent ? "*" : " "} ${key}: ${[type, model].filter(Boolean).join("/")}`,
  );
  const message = [
    ...(lines.length === 0 ? ["No profile is set up"] : lines),
    `With a key, or without need of one: ${usable.join(", ")}`,
  ];
  return { success: true, message: message.join("\n"), data: { profiles, providers: usable } };
}

async function test({ outriderHome, env }: Surroundings, name: string | undefined): Promise<CommandResult> {
  const { title, check } = await checkNamedProvider(name, await loadUserSettings(outriderHome), env);
  if (check.type !== "ok") return { success: false, message: `${title}: ${check.error.message}` };
  const models = check.models.length > 0 ? `, ${check.models.length} models` : "";
  return { success: true, message: `${title}: works${models}`, data: { title, models: check.models.length } };
}
