import { describeSkills } from "../../commands/skills/describe-skills.ts";
import type { SkillUses, Tool } from "../../tools/tool.ts";
import { SessionCommands } from "../prompts/session-commands.ts";
import type { SessionOptions } from "../session-options.ts";
import type { SessionSkills } from "./session-skills.ts";
import { createSkillTools, skillToolNames, skillUses } from "./skill-tool.ts";
import type { SkillTurn } from "./use-skill.ts";

type Offering = {
  readonly skills: SessionSkills;
  /** The tool is added to these. */
  readonly tools: Map<string, Tool>;
  /** Names of tools that are not offered. */
  readonly taken: readonly string[];
};

export type OfferedSkills = {
  /** Names and descriptions. */
  readonly section: string;
  /** How the model uses them in a turn. */
  readonly uses: (turn: SkillTurn) => SkillUses;
};

/** The tool with which a model uses skills, where there are any it may use. */
export function offerSkills(options: SessionOptions, { skills, tools, taken }: Offering): OfferedSkills | undefined {
  if (!skills.mayBeUsed || options.agent) return undefined;
  const { builtinTools: wanted } = options;
  if (skillToolNames.some((name) => taken.includes(name)) || (wanted && !wanted.includes(skillToolNames[0]))) return undefined;
  for (const tool of createSkillTools(skills)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  const commands = new SessionCommands(options, skills);
  const isCommand = (name: string): boolean => commands.get(name) !== undefined;
  const section = skills.offered.length === 0 ? "" : describeSkills(skills.offered, skills.listing);
  return { section, uses: (turn) => skillUses(() => turn, isCommand) };
}
