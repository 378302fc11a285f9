import { RuntimeError } from "../protocol/errors.ts";
import type { BundlePluginManifest } from "./plugin.ts";
import { isRange, isWithin } from "./plugin-needs.ts";

/** The Claude Code whose layout of plugins is followed here. */
const followed = "2.1.325";

/**
 * `engines` of a manifest. A bundle that is for another Outrider is refused; one for another Claude Code is used, since its parts are read
 * one by one and each says what it does not understand. Answers what there is to tell.
 */
export function checkEngines({ name, engines }: BundlePluginManifest, own: string = OUTRIDER_VERSION): string[] {
  if (engines === undefined) return [];
  if (engines === "unusable")
    return [`${name}: engines must be an object with a range of versions for each engine; it was ignored`];
  const odd = Object.entries(engines).filter(([engine, range]) => isOurs(engine) && !isRange(range));
  const { outrider, "claude-code": claude } = engines;
  if (outrider !== undefined && isRange(outrider) && !isWithin(own, outrider))
    throw new RuntimeError("config", `The plugin ${name} is for Outrider ${outrider}, and this is ${own}`);
  const isOther = claude !== undefined && isRange(claude) && !isWithin(followed, claude);
  return [
    ...odd.map(
      ([engine, range]) => `${name}: engines.${engine} is no range of versions (${JSON.stringify(range)}); it was ignored`,
    ),
    ...(isOther
      ? [`${name}: it is for Claude Code ${claude}; plugins are read as ${followed} reads them, so parts of it may do nothing`]
      : []),
  ];
}

const isOurs = (engine: string): boolean => engine === "outrider" || engine === "claude-code";

declare const OUTRIDER_VERSION: string;
