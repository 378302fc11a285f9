import { join } from "node:path";
import { findSkills, skillFolders, type SkillPlaces } from "../commands/skills/find-skills.ts";
import type { FoundSkills, Skill } from "../commands/skills/skill.ts";
import { SkillIndex } from "../commands/skills/skill-index.ts";
import { shortChecksum } from "../util/short-checksum.ts";
import type { Settings } from "../settings/settings.ts";
import { overridden, skillLimits } from "./skill-settings.ts";
import type { SkillsOfPlan } from "./find-skills.ts";
import type { Project } from "./project.ts";

export type SkillGround = {
  readonly project: Project;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** What is in these places, and what of it counts only once the project is trusted. */
export async function loadSkills(places: SkillPlaces, { project, settings, env }: SkillGround): Promise<SkillsOfPlan> {
  const ground = { project, settings, env };
  const find = async (): Promise<FoundSkills> => await reloadSkills(places, ground);
  const { skills, warnings } = await find();
  const below = places.scopes.includes("project") ? (folder: string) => skillsBelow(folder, ground) : undefined;
  const trusted = async (): Promise<boolean> => (await project.trust()).trusted;
  const loosening = skills.filter(({ scope }) => scope === "project").flatMap(wishesOf);
  const ignored = [
    ...(loosening.length > 0 && !(await trusted()) ? loosening : []),
    ...skills.filter(({ scope }) => scope === "beside").flatMap(wishesOf),
  ];
  return {
    options: { skills: { found: skills, trusted, reload: find, below, ...skillLimits(settings.skills, env) } },
    warnings,
    ignored,
  };
}

/** As they are now. */
export async function reloadSkills(places: SkillPlaces, { project, settings }: SkillGround): Promise<FoundSkills> {
  const index = indexOf(places);
  const found = await findSkills(skillFolders(places), project.root, index);
  await index?.save();
  if (Object.keys(settings.skills.overrides).length === 0) return found;
  return { ...found, skills: found.skills.flatMap((skill) => overridden(skill, settings.skills)) };
}

/** Those of a folder below the working directory. What they loosen or run never counts: nobody was shown it with the project. */
export async function skillsBelow(folder: string, { project, settings }: SkillGround): Promise<FoundSkills> {
  const folders = skillFolders({
    ...{ cwd: folder, root: folder, outriderHome: undefined, userHome: undefined },
    scopes: ["project"],
  }).filter(({ kind }) => kind === "skill");
  const found = await findSkills(
    folders.map((place) => ({ ...place, scope: "beside" })),
    project.root,
  );
  return { ...found, skills: found.skills.flatMap((skill) => overridden(skill, settings.skills)) };
}

/** One for each place to work in. */
function indexOf({ outriderHome, cwd }: SkillPlaces): SkillIndex | undefined {
  return outriderHome ? new SkillIndex(join(outriderHome, "cache", "skills", `${shortChecksum(cwd)}.json`)) : undefined;
}

/** What a file of a project may say only once the project is trusted. */
function wishesOf({ name, path, allowedTools, model, hooks }: Skill): string[] {
  return [
    ...(allowedTools.length > 0 ? [`allowed-tools of /${name} (${path})`] : []),
    ...(hooks !== undefined ? [`the hooks of /${name} (${path})`] : []),
    ...(model !== undefined ? [`the model of /${name} (${path})`] : []),
  ];
}
