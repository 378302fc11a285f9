import type { ToolFacts } from "../../protocol/tool-facts.ts";
import { defineTool, type SkillUses, type Tool, ToolFailure, type ToolOutput } from "../../tools/tool.ts";
import { nearest } from "../../util/nearest.ts";
import type { SkillGround } from "./render-skill.ts";
import type { SkillTurn } from "./use-skill.ts";
import type { SessionSkills } from "./session-skills.ts";

export const skillToolNames = ["Skill", "outrider_command_skills"] as const;

const skillFacts: ToolFacts = {
  kind: "note",
  ofConversation: true,
  shown: { as: "think", title: ({ skill, args }) => `Skill ${String(skill ?? args ?? "")}` },
};

/** Loads a skill's instructions. Models know it as `Skill`; under its other name it takes the words that people type. */
export function createSkillTools(skills: SessionSkills): Tool[] {
  const skill = defineTool<{ skill: string; args?: string }>({
    name: skillToolNames[0],
    description:
      "Loads the instructions of one of the skills that the system prompt lists. Use it when the task at hand is what a skill is described " +
      "for, before you begin with the task; then follow the instructions, which come after the result of this call.",
    inputSchema: {
      type: "object",
      properties: {
        skill: { type: "string", description: "The name of the skill, as it is listed" },
        args: { type: "string", description: "Arguments for it, as a person would type them behind its name" },
      },
      required: ["skill"],
    },
    concurrent: false,
    facts: skillFacts,
    async access({ skill: name }) {
      return { kind: "note", resources: namesOf(skills, bare(name)) };
    },
    async execute({ skill: name, args = "" }, { callId, skills: uses }) {
      return await use(uses, { callId, name: bare(name), args });
    },
  });
  const typed = defineTool<{ args: string }>({
    ...skill,
    name: skillToolNames[1],
    facts: { ...skillFacts, isOtherName: true },
    inputSchema: {
      type: "object",
      properties: { args: { type: "string", description: "The name of a skill, and its arguments" } },
      required: ["args"],
    },
    async access({ args }) {
      return { kind: "note", resources: namesOf(skills, words(args).name) };
    },
    async execute({ args }, { callId, skills: uses }) {
      const called = words(args);
      if (called.name !== "") return await use(uses, { callId, ...called });
      const lines = skills.offered.map(({ name, description }) => `${name}: ${description}`);
      return { content: [{ type: "text", text: lines.join("\n") }] };
    },
  });
  return [skill, typed];
}

/** Every name that a rule may know it by: a skill of a bundle may be called without the bundle's name. */
function namesOf(skills: SessionSkills, name: string): string[] {
  const skill = skills.get(name) ?? skills.getUnqualified(name);
  const label = skill?.plugin && skill.label !== undefined ? `${skill.plugin.name}:${skill.label}` : skill?.label;
  return [...new Set([name, skill?.name, label])].filter((one) => one !== undefined);
}

function bare(name: string): string {
  return name.trim().replace(/^\//, "");
}

function words(args: string): { name: string; args: string } {
  const [, name = "", rest = ""] = /^\s*\/?(\S*)\s*(.*)$/s.exec(args) ?? [];
  return { name, args: rest };
}

async function use(uses: SkillUses | undefined, spec: Parameters<SkillUses["use"]>[0]): Promise<ToolOutput> {
  if (!uses) throw new ToolFailure("No skill can be used here.");
  return await uses.use(spec);
}

/** What a model's use of a skill comes to: its text follows the result of the call, and loosens nothing. */
export function skillUses(turn: () => SkillTurn & SkillGround, isCommand: (name: string) => boolean): SkillUses {
  return {
    async use({ callId, name, args }) {
      const ground = turn();
      const { skills } = ground;
      if (name === "") throw new ToolFailure("Invalid skill format: the name is empty");
      const skill = skills.get(name) ?? skills.getUnqualified(name);
      if (!skill) throw new ToolFailure(unknown(name, { skills, isCommand }));
      if (!skills.mayOffer(skill)) throw new ToolFailure(`Skill is not model-invocable: ${name}`);
      const [{ renderSkill, prohibitionsOf }, { instructionsOf, forkSkill }] = await Promise.all([
        import("./render-skill.ts"),
        import("./use-skill.ts"),
      ]);
      const rendered = await renderSkill({ skill, args, invocation: "model-tool" }, ground);
      const notes = rendered.notes.map((note) => `\n${note}`).join("");
      if (rendered.skill.forks) {
        const { report, taskId } = await forkSkill(rendered, ground, callId);
        const { outcome } = report;
        const text = outcome.type === "failed" ? outcome.error.message : outcome.text;
        const isError = outcome.type !== "completed";
        const details = isError || taskId === undefined ? undefined : { skill: name, forkedTaskId: taskId };
        return { content: [{ type: "text", text: text + notes }], isError, ...(details && { details }) };
      }
      skills.forbid(prohibitionsOf(rendered.skill));
      rendered.tell("completed");
      const text = [...rendered.files, instructionsOf(rendered)].join("\n\n");
      if (ground.isShown(ground.deps.redactor.text(text)))
        return { content: [{ type: "text", text: alreadyShown(name, args) + notes }], details: { skill: name } };
      return {
        content: [{ type: "text", text: `Launching skill: ${name}${notes}` }],
        details: { skill: name },
        followUp: text,
      };
    },
  };
}

function alreadyShown(name: string, args: string): string {
  const told = `Skill /${name} is already loaded above; instructions unchanged.`;
  return args === "" ? told : `${told} Arguments: ${args}`;
}

function unknown(
  name: string,
  { skills, isCommand }: { readonly skills: SessionSkills; readonly isCommand: (name: string) => boolean },
): string {
  if (isCommand(name)) return `/${name} is a command for people and no skill: ask the user to type it.`;
  const names = skills.offered.map((skill) => skill.name);
  const guess = nearest(name, names);
  return `Unknown skill: ${name}. ${guess === undefined ? `The skills are: ${names.join(", ")}.` : `Did you mean ${guess}?`}`;
}
