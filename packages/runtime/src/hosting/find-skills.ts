import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SessionOptions } from "../session/session-options.ts";
import type { Project } from "./project.ts";
import type { SessionRequest } from "./session-request.ts";
import type { Surroundings } from "./surroundings.ts";

export type SkillsOfPlan = {
  readonly options: Pick<SessionOptions, "skills">;
  readonly warnings: readonly string[];
  /** What counts only once the project is trusted. */
  readonly ignored: readonly string[];
};

/** Skills and commands in files of the user and of the project. Nothing is loaded where nobody has any. */
export async function skillsOfPlan(
  { options, without, settingSources: sources, bare }: SessionRequest,
  { project, around }: { readonly project: Project; readonly around: Surroundings },
): Promise<SkillsOfPlan> {
  const { cwd, root } = project;
  const { outriderHome, userHome } = around;
  const beside = options?.permissions?.additionalDirectories?.map((path) => resolve(around.cwd, path));
  const isOff = options?.skills || bare || without?.includes("skills") || options?.slashCommands === false;
  if (isOff || !mayHold({ cwd, root, homes: [outriderHome, join(userHome, ".claude")], beside }))
    return { options: {}, warnings: [], ignored: [] };
  const scopes = (["user", "project"] as const).filter(
    (scope) => !sources || sources.includes(scope) || (scope === "project" && sources.includes("local")),
  );
  const { loadSkills } = await import("./load-skills.ts");
  return await loadSkills({ cwd, root, outriderHome, userHome, scopes, beside }, project);
}

type Looked = {
  readonly cwd: string;
  readonly root: string;
  readonly homes: string[];
  readonly beside?: readonly string[] | undefined;
};

/** A look at the few folders that could hold something, without loading what knows more about them. */
function mayHold({ cwd, root, homes, beside = [] }: Looked): boolean {
  const add = (folder: string): void => void homes.push(...[".outrider", ".claude", ".agents"].map((name) => join(folder, name)));
  beside.forEach(add);
  for (let folder = cwd; ; folder = dirname(folder)) {
    add(folder);
    if (folder === root || dirname(folder) === folder) break;
  }
  return homes.some((home) => existsSync(join(home, "skills")) || existsSync(join(home, "commands")));
}
