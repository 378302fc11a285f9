import { RuntimeError } from "@outrider/runtime";
import { checkRuleTool, unknownTool } from "@outrider/runtime/admin";
import type { FlagValues } from "./flags.ts";

/** Tools that flags name, in rules and by themselves. A misspelled name ends the run before it starts. */
export function checkTools(flags: FlagValues): void {
  for (const text of flags.allowedTools ?? []) checkRuleTool(text, { where: "--allowedTools", code: "usage" });
  for (const text of flags.disallowedTools ?? []) checkRuleTool(text, { where: "--disallowedTools", code: "usage" });
  for (const name of flags.tools ?? []) {
    const problem = name === "" || name === "default" ? undefined : unknownTool(name);
    if (problem !== undefined) throw new RuntimeError("usage", `--tools: ${problem}`);
  }
}
