import type { Skill } from "../commands/skills/skill.ts";
import type { SkillOptions } from "../session/skills/session-skills.ts";
import type { SkillSettings } from "../settings/settings.ts";
import { defined } from "../util/defined.ts";

/** Tokens of the windows that most models have, and characters of a token. */
const window = 200_000;
const charactersPerToken = 4;

/** How much of skills the model is told, and whether their commands run; `SLASH_COMMAND_TOOL_CHAR_BUDGET` is Claude Code's variable for all lines together. */
export function skillLimits(
  { withoutCommands, maxDescription: maxLine, listingShare }: SkillSettings,
  env: Readonly<Record<string, string | undefined>>,
): Pick<SkillOptions, "listing" | "withoutCommands"> {
  const named = Number(env["SLASH_COMMAND_TOOL_CHAR_BUDGET"]);
  const share = listingShare === undefined ? undefined : Math.floor(listingShare * window * charactersPerToken);
  const maxAll = named > 0 ? named : share;
  return { withoutCommands, listing: defined({ maxLine, maxAll }) };
}

/** A skill as the user wants it; none where it is switched off. */
export function overridden(skill: Skill, { overrides }: SkillSettings): Skill[] {
  switch (Object.hasOwn(overrides, skill.name) ? overrides[skill.name] : "on") {
    case "off":
      return [];
    case "user-invocable-only":
      return [{ ...skill, modelInvocable: false }];
    case "name-only":
      return [{ ...skill, description: "" }];
    default:
      return [skill];
  }
}
