import { checkRuleTool } from "../permissions/tool-names.ts";
import type { Settings } from "../settings/settings.ts";

/** Tools that rules of settings files name. A misspelled name makes the session impossible: the rule would forbid or allow nothing. */
export function checkRules({ allow, ask, deny }: Settings["permissions"]): void {
  for (const { text, source } of [...deny, ...ask, ...allow]) checkRuleTool(text, { where: source, code: "config" });
}
