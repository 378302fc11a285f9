import { RuntimeError } from "@outrider/runtime";
import { checkRuleTool, type ResolvedSettings, unknownTool } from "@outrider/runtime/host";
import type { FlagValues } from "./flags.ts";

/** Tools that flags name, in rules and by themselves: a misspelled one ends the run before it starts. */
export function checkFlagTools(flags: FlagValues): void {
  for (const text of flags.allowedTools ?? []) checkRuleTool(text, { where: "--allowedTools", code: "usage" });
  for (const text of flags.disallowedTools ?? []) checkRuleTool(text, { where: "--disallowedTools", code: "usage" });
  for (const name of flags.tools ?? []) {
    const problem = name === "" || name === "default" ? undefined : unknownTool(name);
    if (problem !== undefined) throw new RuntimeError("usage", `--tools: ${problem}`);
  }
}

/** The same for settings: what should forbid and names no tool is an error, what should allow is a warning, for it allows nothing. */
export function checkSettingsTools({ settings: { permissions } }: ResolvedSettings): string[] {
  for (const { text, source } of [...permissions.deny, ...permissions.ask])
    checkRuleTool(text, { where: source, code: "config" });
  return permissions.allow.flatMap(({ text, source }) => {
    const problem = unknownTool(text.replace(/\(.*/s, "").trim());
    return problem === undefined ? [] : [`${source}: ${problem} The rule allows nothing`];
  });
}
