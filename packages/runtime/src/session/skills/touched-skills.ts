import { existsSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { describeSkill } from "../../commands/skills/describe-skills.ts";
import type { FoundSkills, Skill } from "../../commands/skills/skill.ts";
import type { SkillsOfFiles, TouchedNote } from "../../context/nested-state.ts";
import { isInside } from "../../util/is-inside.ts";
import { matchPaths } from "../../util/match-paths.ts";
import type { SessionSkills } from "./session-skills.ts";

export type TouchedGround = {
  readonly skills: SessionSkills;
  /** The real folder of the work. */
  readonly cwd: string;
  /** The skills of a folder below it. */
  readonly below: ((folder: string) => Promise<FoundSkills>) | undefined;
  /** Can the model use one by its name? Else it is told of the file. */
  readonly hasTool: boolean;
};

/** Where a folder keeps skills. */
const homes = [".outrider/skills", ".claude/skills", ".agents/skills"];

/**
 * Skills that count from the first file on that they are about: those with `paths`, and those of folders below the working directory. The model
 * is told of each with the result of the call that touched the file, and again once a compaction has taken that away.
 */
export class TouchedSkills implements SkillsOfFiles {
  readonly #ground: TouchedGround;
  readonly #told = new Set<Skill>();
  readonly #ofFolder = new Map<string, readonly Skill[]>();
  readonly #tests = new Map<Skill, (path: string) => boolean>();

  constructor(ground: TouchedGround) {
    this.#ground = ground;
  }

  async touch(paths: readonly string[]): Promise<TouchedNote | undefined> {
    const { skills, cwd, hasTool } = this.#ground;
    const warnings: string[] = [];
    const found = new Set<Skill>();
    for (const path of paths.filter((path) => isInside(cwd, path))) {
      for (const skill of skills.all) if (this.#isAbout(skill, relative(cwd, path))) found.add(skill);
      for (const skill of await this.#below(dirname(path), warnings)) found.add(skill);
    }
    const fresh = [...found].filter((skill) => !this.#told.has(skill));
    for (const skill of fresh) this.#told.add(skill);
    const isNew = skills.reveal(fresh);
    const offered = fresh.filter((skill) => skills.mayOffer(skill));
    if (fresh.length + warnings.length === 0) return undefined;
    return { text: offered.length === 0 ? "" : describe(offered, hasTool), isNew, warnings };
  }

  forget(): void {
    this.#told.clear();
  }

  #isAbout(skill: Skill, path: string): boolean {
    if (skill.paths.length === 0) return false;
    const test = this.#tests.get(skill) ?? matchPaths(skill.paths);
    this.#tests.set(skill, test);
    return test(path);
  }

  /** Those of the folder and of the ones above it, up to the working directory: its own were found at the start. */
  async #below(folder: string, warnings: string[]): Promise<readonly Skill[]> {
    const { cwd, below } = this.#ground;
    if (!below || folder === cwd || !isInside(cwd, folder)) return [];
    const known = this.#ofFolder.get(folder);
    if (known) return known;
    this.#ofFolder.set(folder, []); // two calls of one message may come here together
    const own = homes.some((home) => existsSync(join(folder, home))) ? await below(folder) : undefined;
    warnings.push(...(own?.warnings ?? []));
    const added = this.#ground.skills.addBelow(own?.skills ?? [], relative(cwd, folder).split(sep).join("/"));
    const all = [...added, ...(await this.#below(dirname(folder), warnings))];
    this.#ofFolder.set(folder, all);
    return all;
  }
}

function describe(skills: readonly Skill[], hasTool: boolean): string {
  const heading = hasTool
    ? "These skills are for files such as this one. Use them with the tool Skill:"
    : "There are instructions for work on files such as this one. Read the file of one before you begin with what it is described for:";
  return [heading, ...skills.map((skill) => describeSkill(skill) + (hasTool ? "" : ` (${skill.path})`))].join("\n");
}
