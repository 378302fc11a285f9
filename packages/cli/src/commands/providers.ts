import {
  createProvider,
  findProvider,
  loadUserSettings,
  nearest,
  outriderHome,
  type Profile,
  type ProviderDefinition,
  providerDefinitions,
  RuntimeError,
  saveProfile,
  suggestProfileKey,
} from "@outrider/runtime";
import { exitCodes } from "../exit-codes.ts";

const usage = `Usage:
  outrider providers list                 providers and profiles, and which of them have a key
  outrider providers test [NAME]          ask a provider or profile whether key and address are good
  outrider providers add TYPE [--model MODEL] [--api-key-env VARIABLE] [--base-url URL] [--name KEY] [--current]
                                          write a profile into settings.json; keys stay in the environment
`;

/** Who can be asked, whether it works, and how to set it up. */
export async function runProviders(args: readonly string[]): Promise<number> {
  const [action = "list", ...rest] = args;
  switch (action) {
    case "list":
      return await list();
    case "test":
      return await test(rest[0]);
    case "add":
      return await add(rest);
    case "--help":
    case "-h":
      process.stdout.write(usage);
      return exitCodes.success;
    default: {
      const guess = nearest(action, ["list", "test", "add"]);
      throw new RuntimeError(
        "usage",
        `providers has no action ${JSON.stringify(action)}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`,
      );
    }
  }
}

async function list(): Promise<number> {
  const settings = await loadUserSettings(outriderHome(process.env));
  const profiles = Object.entries(settings.providers).map(([key, profile]) => [
    key === settings.currentProvider ? `* ${key}` : `  ${key}`,
    `${profile.type}${profile.model ? `/${profile.model}` : ""}`,
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

function keyState({ keyVariables, keyOptional }: ProviderDefinition): string {
  const set = keyVariables.find((name) => process.env[name]?.trim());
  if (set) return `key in ${set}`;
  return keyOptional ? "no key needed" : `needs ${keyVariables.join(" or ")}`;
}

async function test(name: string | undefined): Promise<number> {
  const settings = await loadUserSettings(outriderHome(process.env));
  const { checkNamedProvider } = await import("@outrider/runtime");
  const { title, check } = await checkNamedProvider(name, settings, process.env);
  if (check.type === "ok") {
    process.stdout.write(`${title}: works${check.models.length > 0 ? `, ${check.models.length} models` : ""}\n`);
    return exitCodes.success;
  }
  process.stderr.write(`outrider: ${title}: ${check.error.message}\n${check.error.hint ? `${check.error.hint}\n` : ""}`);
  return check.error.code === "config" ? exitCodes.config : exitCodes.error;
}

const addFlags = ["--model", "--api-key-env", "--base-url", "--name"];

async function add(args: readonly string[]): Promise<number> {
  const [type, ...rest] = args;
  if (!type) throw new RuntimeError("usage", `providers add needs a provider\n${usage}`);
  const values = new Map<string, string>();
  let current = false;
  for (let index = 0; index < rest.length; index++) {
    const [flag = "", inline] = (rest[index] ?? "").split(/=(.*)/s);
    if (flag === "--current") current = true;
    else if (addFlags.includes(flag)) values.set(flag, inline ?? rest[++index] ?? missing(flag));
    else {
      const guess = nearest(flag, [...addFlags, "--current"]);
      throw new RuntimeError("usage", `providers add has no flag ${flag}${guess ? `; did you mean ${guess}?` : ""}`);
    }
  }
  const home = outriderHome(process.env);
  const settings = await loadUserSettings(home);
  const definition = findProvider(type) ?? unknownType(type);
  const model = values.get("--model") ?? definition.defaultModel;
  const variable = values.get("--api-key-env");
  const baseURL = values.get("--base-url");
  const profile: Profile = {
    type,
    ...(model && { model }),
    ...(variable && { apiKey: `$ENV:${variable}` }),
    ...(baseURL && { baseURL }),
  };
  const apiKey = variable ? process.env[variable] : undefined;
  (
    await createProvider(definition, {
      env: process.env,
      ...(model && { model }),
      ...(baseURL && { baseURL }),
      ...(apiKey && { apiKey }),
    })
  ).close();
  const key = values.get("--name") ?? suggestProfileKey({ type, model }, Object.keys(settings.providers));
  const makeCurrent = current || settings.currentProvider === undefined;
  const path = await saveProfile(home, { key, profile, makeCurrent });
  process.stdout.write(
    `Wrote the profile ${key} to ${path}${makeCurrent ? "; it is the current one" : ""}.\nTry it: outrider providers test ${key}\n`,
  );
  return exitCodes.success;
}

function missing(flag: string): never {
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
