import type { Skill } from "./skill.ts";

/** What a model may use by itself, in the order in which it is shown. */
export function offeredSkills(skills: readonly Skill[], only?: readonly string[]): Skill[] {
  return inOrder(skills).filter(
    ({ name, modelInvocable, paths }) => modelInvocable && paths.length === 0 && (only === undefined || only.includes(name)),
  );
}

/** What people may type; those for some files only once such a file was touched. */
export function typedSkills(skills: readonly Skill[], touched: ReadonlySet<string> = new Set()): Skill[] {
  return inOrder(skills).filter(({ name, userInvocable, paths }) => userInvocable && (paths.length === 0 || touched.has(name)));
}

function inOrder(skills: readonly Skill[]): Skill[] {
  const rank = ({ kind }: Skill): number => (kind === "skill" ? 0 : 1);
  return [...skills].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}
