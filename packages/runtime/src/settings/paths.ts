import { join, resolve } from "node:path";
import { checkValue, text } from "../protocol/kinds.ts";
import { outriderHome } from "./home.ts";

export type ProjectPaths = Readonly<
  Record<
    | "root"
    | "settings"
    | "localSettings"
    | "sessions"
    | "logs"
    | "checkpoints"
    | "memory"
    | "worktrees"
    | "plugins"
    | "agents"
    | "skills",
    string
  >
>;

/** Where things of a project are, in its `.outrider` folder. Names alone: nothing is made, and nothing need be there. */
export function projectPaths(cwd: string): ProjectPaths {
  checkValue("cwd", cwd, text);
  const root = resolve(cwd, ".outrider");
  return {
    root,
    settings: join(root, "settings.json"),
    localSettings: join(root, "settings.local.json"),
    sessions: join(root, "sessions"),
    logs: join(root, "logs"),
    checkpoints: join(root, "checkpoints"),
    memory: join(root, "memory"),
    worktrees: join(root, "worktrees"),
    plugins: join(root, "plugins"),
    agents: join(root, "agents"),
    skills: join(root, "skills"),
  };
}

export type UserPaths = Readonly<Record<"root" | "settings" | "sessions" | "memory", string>>;

/** Where things of the user are: in `OUTRIDER_HOME`, else in `~/.outrider`; or in the folder that is named. */
export function userPaths(root: string = outriderHome(process.env)): UserPaths {
  checkValue("root", root, text);
  return {
    root,
    settings: join(root, "settings.json"),
    sessions: join(root, "sessions"),
    memory: join(root, "memory"),
  };
}
