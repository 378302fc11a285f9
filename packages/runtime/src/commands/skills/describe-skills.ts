import type { Skill } from "./skill.ts";

/** Characters of one description, and of all lines together. */
export type ListingLimits = { readonly maxLine?: number | undefined; readonly maxAll?: number | undefined };

/** The section of the system prompt: names and descriptions, nothing else. What does not fit loses its description, from the end. */
export function describeSkills(skills: readonly Skill[], { maxLine = 1_536, maxAll = 16_000 }: ListingLimits = {}): string {
  const names = skills.reduce((sum, { name }) => sum + name.length + 3, 0);
  let room = maxAll - names;
  const lines = skills.map((skill) => {
    const description = skill.description.slice(0, maxLine);
    room -= description.length + 2;
    return describeSkill(skill, room < 0 ? "" : description);
  });
  return ["## Skills", "", ...lines].join("\n");
}

/** A line of a list: its name, the one it gives itself, and what it is for. */
export function describeSkill({ name, label, ...skill }: Skill, description: string = skill.description.slice(0, 1_536)): string {
  const called = label !== undefined && label !== name && /^[\w-]+$/.test(label) ? `${name} (${label})` : name;
  return description === "" ? `- ${called}` : `- ${called}: ${description}`;
}
