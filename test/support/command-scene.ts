import { decide } from "../../packages/runtime/src/permissions/decide.ts";
import type { Ground } from "../../packages/runtime/src/permissions/command-paths.ts";
import type { ListFolder } from "../../packages/runtime/src/permissions/glob-words.ts";
import { parseCommand } from "../../packages/runtime/src/permissions/parse-command.ts";
import type { Program } from "../../packages/runtime/src/permissions/parsed-command.ts";
import type { Decision, Policy } from "../../packages/runtime/src/permissions/policy.ts";
import type { ProgramFinder } from "../../packages/runtime/src/permissions/program-finder.ts";
import { type Action, parseRule, type Rule } from "../../packages/runtime/src/permissions/rules.ts";

export const root = "/repo";

/** Folder → what is in it, by spaces; a name with `/` is a folder, and others are not listed. */
export function listing(folders: Readonly<Record<string, string>>): ListFolder {
  return async (folder) =>
    folders[folder.replace(/(?<=.)\/$/, "")]
      ?.split(" ")
      .filter(Boolean)
      .map((name) => ({ name: name.replace("/", ""), kind: name.endsWith("/") ? "directory" : "file" }));
}

export const groundOf = (list: ListFolder | undefined, cwd = root): Ground => ({
  ...{ base: { root, home: "/home/me" }, cwd, resolve: async (path) => path, list },
});

/** Programs that lie outside the project, in no folder of the system's. */
export const everyday: ProgramFinder = { place: async () => "other", isShadowed: async () => false };

export const rules = (...texts: string[]): Rule[] => texts.map((text) => parseRule(text));

export const policyOf = (given: Partial<Policy> = {}): Policy => ({
  ...{ mode: "default", allow: [], ask: [], deny: [], base: { root, home: "/home/me" }, readable: [] },
  ...{ inertGit: async () => "/inert", listFolder: listing({ "/": "repo/", [root]: "a.txt src/", [`${root}/src`]: "b.ts" }) },
  ...{ programs: everyday },
  ...given,
});

export async function judge(command: string, given: Partial<Policy> = {}, more: Partial<Action> = {}): Promise<Decision> {
  return decide(policyOf(given), [{ tool: "Bash", kind: "run", resource: command, ...more }], async (path) => path);
}

export function programIn(command: string): Program {
  const [program] = parseCommand(command).programs;
  if (!program) throw new Error(`no program in ${command}`);
  return program;
}
