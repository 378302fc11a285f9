import type { Skill } from "./skill.ts";

/** Characters of one description, and of all lines together. */
const maxLine = 1_536;
const maxAll = 16_000;

/** The section of the system prompt: names and descriptions, nothing else. What does not fit loses its description, from the end. */
export function describeSkills(skills: readonly Skill[]): string {
  const names = skills.reduce((sum, { name }) => sum + name.length + 3, 0);
  let room = maxAll - names;
  const lines = skills.map((skill) => {
    const { name, label } = skill;
    const called = label !== undefined && label !== name && /^[\w-]+$/.test(label) ? `${name} (${label})` : name;
    const description = skill.description.slice(0, maxLine);
    room -= description.length + 2;
    return room < 0 ? `- ${called}` : `- ${called}: ${description}`;
  });
  return ["## Skills", "", ...lines].join("\n");
}
