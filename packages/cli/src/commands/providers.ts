import { findProvider, type ProviderDefinition, providerDefinitions, RuntimeError } from "@outrider/runtime";
import {
  loadProvider,
  loadUserSettings,
  nearest,
  outriderHome,
  type Profile,
  type ProviderSettingsFile,
  suggestProfileKey,
} from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";

const usage = `Usage:
  outrider providers list                 list providers and profiles, and which of them have a key
  outrider providers test [NAME]          test the key and address of a provider or profile
  outrider providers add TYPE [--model MODEL] [--api-key-env VARIABLE] [--base-url URL] [--name KEY] [--current]
                                          add a profile to settings.json; keys stay in the environment
  outrider providers use KEY              make a profile the current one
  outrider providers remove KEY           remove a profile from settings.json
`;

const actions = ["list", "test", "add", "use", "remove"];

/** Who can be asked, whether it works, and how to set it up. */
export async function runProviders(args: readonly string[]): Promise<number> {
  const [action = "list", ...rest] = args;
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(usage);
    return exitCodes.success;
  }
  switch (action) {
    case "list":
      refuseMore(action, rest);
      return await list();
    case "test":
      refuseMore(action, rest.slice(1));
      return await test(rest[0]);
    case "add":
      return await add(rest);
    case "use":
    case "remove":
      refuseMore(action, rest.slice(1));
      return await change(action, rest[0]);
    default: {
      const guess = nearest(action, actions);
      throw new RuntimeError(
        "usage",
        `providers has no action ${JSON.stringify(action)}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`,
      );
    }
  }
}

function refuseMore(action: string, words: readonly string[]): void {
  if (words.length > 0) throw new RuntimeError("usage", `providers ${action} does not take ${words.join(" ")}\n${usage}`);
}

async function list(): Promise<number> {
  const settings = await loadUserSettings(outriderHome(process.env));
  const profiles = profilesOf(settings).map(({ key, profile, current }) => [
    `${current ? "*" : " "} ${key}`,
    `${profile.type}${profile.model ? `/${profile.model}` : ""}`,
    profileKeyState(profile),
    profile.baseURL ?? "",
  ]);
  if (profiles.length > 0) print("Profiles (* is the current one)", profiles);
  print(
    "Providers",
    providerDefinitions.map((definition) => [
      `  ${definition.name}`,
      keyState(definition),
      definition.defaultModel ?? "",
      definition.setupLink ?? "",
    ]),
  );
  return exitCodes.success;
}

function profilesOf({ providers, provider, currentProvider }: ProviderSettingsFile): NamedProfile[] {
  const named = Object.entries(providers).map(([key, profile]) => ({ key, profile, current: key === currentProvider }));
  return provider ? [...named, { key: "(provider)", profile: provider, current: currentProvider === undefined }] : named;
}

type NamedProfile = { readonly key: string; readonly profile: Profile; readonly current: boolean };

function profileKeyState({ type, apiKey }: Profile): string {
  const definition = findProvider(type);
  if (!apiKey) return definition ? keyState(definition) : "";
  if (!apiKey.startsWith("$ENV:")) return "key in the settings";
  const variable = apiKey.slice("$ENV:".length);
  return process.env[variable]?.trim() ? `key in ${variable}` : `needs ${variable}`;
}

function keyState({ keyVariables, keyOptional }: ProviderDefinition): string {
  const set = keyVariables.find((name) => process.env[name]?.trim());
  if (set) return `key in ${set}`;
  return keyOptional ? "no key needed" : `needs ${keyVariables.join(" or ")}`;
}

async function test(name: string | undefined): Promise<number> {
  const settings = await loadUserSettings(outriderHome(process.env));
  const { checkNamedProvider } = await import("@outrider/runtime/host");
  const { title, check } = await checkNamedProvider(name, settings, process.env);
  if (check.type === "ok") {
    process.stdout.write(`${title}: works${check.models.length > 0 ? `, ${check.models.length} models` : ""}\n`);
    return exitCodes.success;
  }
  process.stderr.write(`outrider: ${title}: ${check.error.message}\n${check.error.hint ? `${check.error.hint}\n` : ""}`);
  return check.error.code === "config" ? exitCodes.config : exitCodes.error;
}

async function change(action: "use" | "remove", key: string | undefined): Promise<number> {
  if (key === undefined) throw new RuntimeError("usage", `providers ${action} needs the key of a profile\n${usage}`);
  const { chooseProfile, removeProfile } = await import("@outrider/runtime/admin");
  const home = outriderHome(process.env);
  if (action === "use") process.stdout.write(`${key} is the current profile now (${await chooseProfile(home, key)})\n`);
  else process.stdout.write(`Removed the profile ${key} from ${await removeProfile(home, key)}\n`);
  return exitCodes.success;
}

const addFlags = ["--model", "--api-key-env", "--base-url", "--name"];

async function add(args: readonly string[]): Promise<number> {
  const [type, ...rest] = args;
  if (!type || type.startsWith("-")) throw new RuntimeError("usage", `providers add needs a provider\n${usage}`);
  const values = new Map<string, string>();
  let current = false;
  for (let index = 0; index < rest.length; index++) {
    const [flag = "", inline] = (rest[index] ?? "").split(/=(.*)/s);
    if (flag === "--current") current = true;
    else if (addFlags.includes(flag)) values.set(flag, inline ?? flagValue(flag, rest[++index]));
    else {
      const guess = nearest(flag, [...addFlags, "--current"]);
      throw new RuntimeError("usage", `providers add has no flag ${flag}${guess ? `; did you mean ${guess}?` : ""}`);
    }
  }
  const home = outriderHome(process.env);
  const settings = await loadUserSettings(home);
  const profile = toProfile(type, values);
  const key =
    profileName(values.get("--name")) ?? suggestProfileKey({ type, model: profile.model }, Object.keys(settings.providers));
  await tryOut(profile, key);
  const makeCurrent = current || settings.currentProvider === undefined;
  const { saveProfile } = await import("@outrider/runtime/admin");
  const path = await saveProfile(home, { key, profile, makeCurrent });
  const verb = Object.hasOwn(settings.providers, key) ? "Replaced" : "Wrote";
  process.stdout.write(
    `${verb} the profile ${key} in ${path}${makeCurrent ? "; it is the current one" : ""}.\nTry it: outrider providers test ${key}\n`,
  );
  return exitCodes.success;
}

function toProfile(type: string, values: ReadonlyMap<string, string>): Profile {
  const definition = findProvider(type) ?? unknownType(type);
  const model = values.get("--model") ?? definition.defaultModel;
  const variable = values.get("--api-key-env");
  const baseURL = values.get("--base-url");
  if (variable !== undefined && !/^[A-Za-z_]\w*$/.test(variable)) {
    // Not repeated: it may be the key itself.
    throw new RuntimeError(
      "usage",
      "--api-key-env takes the name of a variable, such as OPENAI_API_KEY; the key stays out of the settings",
    );
  }
  return { type, ...(model && { model }), ...(variable && { apiKey: `$ENV:${variable}` }), ...(baseURL && { baseURL }) };
}

function profileName(name: string | undefined): string | undefined {
  if (name === undefined || /^[^\s/]+$/.test(name)) return name;
  throw new RuntimeError("usage", `--name needs a name without spaces and slashes, not ${JSON.stringify(name)}`);
}

/** A profile that no run could use is not written; a key that is still to come is only told of. */
async function tryOut(profile: Profile, key: string): Promise<void> {
  const variable = profile.apiKey?.slice("$ENV:".length);
  const unset = variable !== undefined && !process.env[variable]?.trim() ? variable : undefined;
  const env = unset ? { ...process.env, [unset]: "to-be-set" } : process.env;
  await loadProvider({ provider: key }, { currentProvider: undefined, providers: { [key]: profile }, provider: undefined }, env);
  if (unset) process.stderr.write(`outrider: ${unset} is not set yet; runs with this profile need it\n`);
}

function flagValue(flag: string, word: string | undefined): string {
  if (word !== undefined && !word.startsWith("--")) return word;
  throw new RuntimeError("usage", `${flag} needs a value`);
}

function unknownType(type: string): never {
  const names = providerDefinitions.map((definition) => definition.name);
  const guess = nearest(type, names);
  throw new RuntimeError(
    "usage",
    `There is no provider ${JSON.stringify(type)}${guess ? `; did you mean ${guess}?` : ""}. Known: ${names.join(", ")}`,
  );
}

function print(title: string, rows: readonly string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  process.stdout.write(`${title}\n${lines.join("\n")}\n\n`);
}
