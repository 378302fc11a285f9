import { RuntimeError } from "@outrider/runtime";
import type { ResolvedSettings } from "@outrider/runtime/host";
import { checkRuleTool, unknownTool } from "@outrider/runtime/admin";
import type { FlagValues } from "./flags.ts";

/**
 * Tools that flags and settings name, in rules and by themselves. A misspelled name in a flag, or in a rule that should forbid something,
 * ends the run before it starts. One that should allow something allows nothing: the answer has a warning for each.
 */
export function checkTools(flags: FlagValues, { settings: { permissions } }: ResolvedSettings): string[] {
  for (const text of flags.allowedTools ?? []) checkRuleTool(text, { where: "--allowedTools", code: "usage" });
  for (const text of flags.disallowedTools ?? []) checkRuleTool(text, { where: "--disallowedTools", code: "usage" });
  for (const name of flags.tools ?? []) {
    const problem = name === "" || name === "default" ? undefined : unknownTool(name);
    if (problem !== undefined) throw new RuntimeError("usage", `--tools: ${problem}`);
  }
  for (const { text, source } of [...permissions.deny, ...permissions.ask])
    checkRuleTool(text, { where: source, code: "config" });
  return permissions.allow.flatMap(({ text, source }) => {
    const problem = unknownTool(text.replace(/\(.*/s, "").trim());
    return problem === undefined ? [] : [`${source}: ${problem} The rule allows nothing`];
  });
}
