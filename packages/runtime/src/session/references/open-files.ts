import { decide } from "../../permissions/decide.ts";
import type { Policy } from "../../permissions/policy.ts";
import { readingOf } from "../../permissions/rules.ts";
import type { Workspace } from "../../workspace/workspace.ts";

type Ground = { readonly workspace: Workspace; readonly policy: () => Policy };

/** May it be read without a question, if it is there? Says nothing about whether it is: a path that cannot be followed is as closed as one that leads outside. */
export async function isOpenFile(name: string, { workspace, policy }: Ground): Promise<boolean> {
  try {
    const path = await workspace.resolve(name);
    const { effect } = await decide(policy(), [readingOf(path)], (one) => workspace.resolve(one));
    return effect === "allow";
  } catch {
    return false;
  }
}
