import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SkillOptions } from "../session/skills/session-skills.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { Settings } from "../settings/settings.ts";
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
  { project, around, settings }: { readonly project: Project; readonly around: Surroundings; readonly settings: Settings },
): Promise<SkillsOfPlan> {
  const { cwd, root } = project;
  const { outriderHome, userHome, claudeHome = join(userHome, ".claude") } = around;
  const beside = options?.permissions?.additionalDirectories?.map((path) => resolve(around.cwd, path));
  const isOff = options?.skills || bare || without?.includes("skills") || options?.slashCommands === false;
  if (isOff) return { options: {}, warnings: [], ignored: [] };
  const scopes = (["user", "project"] as const).filter(
    (scope) => !sources || sources.includes(scope) || (scope === "project" && sources.includes("local")),
  );
  const ground = { project, settings, env: { ...around.env, ...settings.env } };
  const places = { cwd, root, outriderHome, userHome, claudeHome, scopes, beside };
  const load = (): Promise<typeof import("./load-skills.ts")> => import("./load-skills.ts");
  if (mayHold({ cwd, root, homes: [outriderHome, claudeHome], beside })) return await (await load()).loadSkills(places, ground);
  // Some may come, and folders below may have some.
  const skills: SkillOptions = {
    found: [],
    trusted: async () => (await project.trust()).trusted,
    reload: async () => await (await load()).reloadSkills(places, ground),
    below: scopes.includes("project") ? async (folder) => await (await load()).skillsBelow(folder, ground) : undefined,
  };
  return { options: { skills }, warnings: [], ignored: [] };
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
