import type { Skill } from "./skill.ts";

/** Where a skill lies, and what it is called because of that. */
export type SkillPlace = Pick<Skill, "name" | "kind" | "scope" | "path" | "folder" | "within" | "plugin">;

/** What a file says about itself where it is not what most say. */
export type Said = { -readonly [Key in keyof Omit<Skill, keyof SkillPlace>]?: Skill[Key] | undefined };

const none: readonly string[] = [];

/** Written out: objects that are put together of others, a thousand times, take most of the time of a start. */
export function toSkill(said: Said, { name, kind, scope, path, folder, within, plugin }: SkillPlace): Skill {
  const skill: { -readonly [Key in keyof Skill]: Skill[Key] } = {
    name,
    kind,
    scope,
    path,
    folder,
    description: said.description ?? "",
    argumentNames: said.argumentNames ?? none,
    allowedTools: said.allowedTools ?? none,
    disallowedTools: said.disallowedTools ?? none,
    forks: said.forks ?? false,
    modelInvocable: said.modelInvocable ?? true,
    userInvocable: said.userInvocable ?? true,
    paths: said.paths ?? none,
    hasHead: said.hasHead ?? true,
  };
  if (within !== undefined) skill.within = within;
  if (plugin !== undefined) skill.plugin = plugin;
  if (said.label !== undefined) skill.label = said.label;
  if (said.argumentHint !== undefined) skill.argumentHint = said.argumentHint;
  if (said.model !== undefined) skill.model = said.model;
  if (said.effort !== undefined) skill.effort = said.effort;
  if (said.hooks !== undefined) skill.hooks = said.hooks;
  if (said.agent !== undefined) skill.agent = said.agent;
  return skill;
}
