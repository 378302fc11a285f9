import { providerDefinitions, RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import type { Rate } from "./rate-limits.ts";

/** `*` stands for every provider that is not named, `scripted` for the one that plays a script. */
const known: readonly string[] = [...providerDefinitions.map(({ name }) => name), "scripted", "*"];

/** A rate for a provider that nobody asks would limit nothing, and nobody would notice. */
export function needKnownProviders(rates: Readonly<Record<string, Rate>> | null | undefined): void {
  const wrong = Object.keys(rates ?? {}).find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const guess = nearest(wrong, known);
  throw new RuntimeError(
    "usage",
    `There is no provider ${wrong} to limit${guess === undefined ? "" : `; did you mean ${guess}?`}`,
    {
      hint: `A rate is for one of ${known.slice(0, -1).join(", ")}; a profile counts as its provider`,
    },
  );
}
