import { nearest } from "../util/nearest.ts";

const presetStart = "preset:";

/** One for each family of programs, and `dev` for all of them. */
const families = [
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "deno",
  "cargo",
  "go",
  "python",
  "make",
  "just",
  "task",
  "mise",
  "cmake",
  "gradle",
  "maven",
  "dotnet",
  "bundler",
  "composer",
  "mix",
  "swift",
] as const;
export type PresetFamily = (typeof families)[number];

export const presetNames: readonly string[] = ["dev", ...families];

/** The name in `preset:NAME`; undefined for every other rule. */
export function presetIn(text: string): string | undefined {
  return text.startsWith(presetStart) ? text.slice(presetStart.length) : undefined;
}

/** Why there is no such preset, with the nearest one; undefined when there is one. */
export function unknownPreset(name: string): string | undefined {
  if (presetNames.includes(name)) return undefined;
  const guess = nearest(name, presetNames);
  return `There is no preset ${JSON.stringify(name)}; ${guess === undefined ? `there are ${presetNames.join(", ")}` : `did you mean ${guess}?`}`;
}
