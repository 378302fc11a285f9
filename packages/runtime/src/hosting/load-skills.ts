import { join } from "node:path";
import { findSkills, skillFolders, type SkillPlaces } from "../commands/skills/find-skills.ts";
import type { FoundSkills, Skill } from "../commands/skills/skill.ts";
import { SkillIndex } from "../commands/skills/skill-index.ts";
import { shortChecksum } from "../util/short-checksum.ts";
import type { SkillsOfPlan } from "./find-skills.ts";
import type { Project } from "./project.ts";

/** What is in these places, and what of it counts only once the project is trusted. */
export async function loadSkills(places: SkillPlaces, project: Project): Promise<SkillsOfPlan> {
  const folders = skillFolders(places);
  const find = async (): Promise<FoundSkills> => {
    const index = indexOf(places);
    const found = await findSkills(folders, project.root, index);
    await index?.save();
    return found;
  };
  const { skills, warnings } = await find();
  const trusted = async (): Promise<boolean> => (await project.trust()).trusted;
  const loosening = skills.filter(({ scope }) => scope === "project").flatMap(wishesOf);
  const ignored = [
    ...(loosening.length > 0 && !(await trusted()) ? loosening : []),
    ...skills.filter(({ scope }) => scope === "beside").flatMap(wishesOf),
  ];
  return { options: { skills: { found: skills, trusted, reload: find } }, warnings, ignored };
}

/** One for each place to work in. */
function indexOf({ outriderHome, cwd }: SkillPlaces): SkillIndex | undefined {
  return outriderHome ? new SkillIndex(join(outriderHome, "cache", "skills", `${shortChecksum(cwd)}.json`)) : undefined;
}

/** What a file of a project may say only once the project is trusted. */
function wishesOf({ name, path, allowedTools, model }: Skill): string[] {
  return [
    ...(allowedTools.length > 0 ? [`allowed-tools of /${name} (${path})`] : []),
    ...(model !== undefined ? [`the model of /${name} (${path})`] : []),
  ];
}
