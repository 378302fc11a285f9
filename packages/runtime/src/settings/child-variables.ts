import { providerDefinitions } from "../model/providers/definitions.ts";
import { isProviderVariable } from "./claude-choices.ts";
import { keyText, placeOf } from "./layer-error.ts";
import type { MergedSetting } from "./merge.ts";

export type ChildVariables = { readonly env: Readonly<Record<string, string>>; readonly warnings: readonly string[] };

/**
 * The variables of `env` that programs get. They do not reach the run itself: no file of a project moves Outrider's home or sends its keys to
 * another address (what the user's own say of that, `claude-choices.ts` reads). Keys of providers and Outrider's own variables are not handed to programs either.
 */
export function toChildVariables(merged: readonly MergedSetting[]): ChildVariables {
  const env: Record<string, string> = Object.create(null);
  const warnings: string[] = [];
  const keys = new Set(providerDefinitions.flatMap(({ keyVariables }) => keyVariables));
  for (const { setting, path, value, contributions } of merged) {
    const winner = contributions.find(({ verdict }) => verdict === "won")?.leaf;
    if (setting.key !== "env.*" || !winner || typeof value !== "string") continue;
    const name = path.at(-1) ?? "";
    const { scope, dialect } = winner.layer;
    const isAsked = isProviderVariable(name) && (scope === "flag" || (scope === "user" && dialect === "claude"));
    if (!keys.has(name) && !name.startsWith("OUTRIDER_")) env[name] = value;
    else if (isAsked)
      continue; // for who is asked, and not for programs
    else
      warnings.push(
        `${placeOf(winner.layer, winner.written)}: ${keyText(winner.written)} has no effect: variables of settings are for the programs a run starts, and ${keys.has(name) ? "keys of providers are not for them" : "Outrider's own are not for them"}`,
      );
  }
  return { env, warnings };
}
