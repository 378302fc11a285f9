import { checkRuleTool, unknownTool } from "../permissions/tool-names.ts";
import type { Settings } from "../settings/settings.ts";

/**
 * Tools that rules of settings files name. A misspelled name in a rule that should forbid something makes the session impossible. One that
 * should allow something allows nothing: there is a warning for each.
 */
export function checkRules({ allow, ask, deny }: Settings["permissions"]): string[] {
  for (const { text, source } of [...deny, ...ask]) checkRuleTool(text, { where: source, code: "config" });
  return allow.flatMap(({ text, source }) => {
    const problem = unknownTool(text.replace(/\(.*/s, "").trim());
    return problem === undefined ? [] : [`${source}: ${problem} The rule allows nothing`];
  });
}
