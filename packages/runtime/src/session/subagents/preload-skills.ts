import { readSkill } from "../../commands/skills/find-skills.ts";
import { parseSkill } from "../../commands/skills/parse-skill.ts";
import { preparePrompt } from "../../commands/skills/prepare-prompt.ts";
import type { Skill } from "../../commands/skills/skill.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import type { SkillActivation } from "../../protocol/events.ts";
import { nearest } from "../../util/nearest.ts";
import { refuseForbidden, type SkillGround, variablesOf } from "../skills/render-skill.ts";
import { instructionsOf } from "../skills/use-skill.ts";

export type PreloadedSkills = {
  /** For the agent's prompt. */
  readonly texts: readonly string[];
  /** What is on record about them. */
  readonly activations: readonly SkillActivation[];
  /** Why one is not there, a sentence each. */
  readonly warnings: readonly string[];
};

type Ground = Pick<SkillGround, "deps" | "skills" | "sessionId">;

/**
 * The texts of the skills that an agent is to know from its beginning, without arguments. Nothing of them runs: a command in such a text
 * stands there as it is written, and the agent may run it under the rules.
 */
export async function preloadSkills(names: readonly string[], ground: Ground): Promise<PreloadedSkills> {
  const { skills, deps } = ground;
  const texts: string[] = [];
  const activations: SkillActivation[] = [];
  const warnings: string[] = [];
  for (const name of new Set(names)) {
    const skill = skills.get(name) ?? skills.getUnqualified(name);
    try {
      if (!skill) throw new Error(unknown(name, skills.all));
      if (!skill.modelInvocable) throw new Error("models may not use it");
      texts.push(await textOf(skill, ground));
      if (!skills.active.includes(skill.folder)) skills.active.push(skill.folder);
      const source = skill.plugin ? "plugin" : "skill";
      const fact = { activationId: deps.newId(), skillName: skill.name, source, invocation: "agent", mode: "inject" } as const;
      activations.push({ ...fact, status: "completed" });
    } catch (error) {
      warnings.push(`The agent works without the skill ${name}: ${toRuntimeError(error).message}`);
    }
  }
  return { texts, activations, warnings };
}

async function textOf(known: Skill, ground: Ground): Promise<string> {
  refuseForbidden(known, ground);
  const { skill, body } = await parseSkill(readSkill(known), known);
  const context = { args: "", argumentNames: skill.argumentNames, variables: variablesOf(skill, ground) };
  const { pieces } = preparePrompt(body, context);
  const text = pieces.map((piece) => (piece.type === "text" ? piece.text : piece.written)).join("");
  return `# Skill ${skill.name}\n\n${instructionsOf({ skill, text })}`;
}

function unknown(name: string, all: readonly Skill[]): string {
  const guess = nearest(
    name,
    all.map((skill) => skill.name),
  );
  return `there is none of that name${guess === undefined ? "" : `; did you mean ${guess}?`}`;
}
