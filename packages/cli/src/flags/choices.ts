import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { type Flag, type FlagName, flags } from "./flags.ts";

/** Why a flag cannot have this value, with the nearest one; undefined when it can. */
export function choiceProblem(name: FlagName, value: string, written = `--${name}`): RuntimeError | undefined {
  const { choices } = (flags as readonly Flag[]).find((flag) => flag.name === name) ?? {};
  if (!choices || choices.includes(value)) return undefined;
  const guess = nearest(value, choices);
  const question = guess ? ` Did you mean ${guess}?` : "";
  const problem = `${written} cannot be ${JSON.stringify(value)}.${question} Choose from: ${choices.join(", ")}`;
  return new RuntimeError("usage", problem);
}
