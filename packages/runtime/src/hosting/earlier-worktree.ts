import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { SessionStore } from "../journal/store.ts";
import { worktreesFolder } from "../tasks/worktrees/worktree.ts";
import { isInside } from "../util/is-inside.ts";
import type { SessionChoice } from "./session-request.ts";

export type EarlierWorktree = { readonly name?: string; readonly warning?: string };

/** The worktree that a stored session worked in, to go on there; or a word about why it is somewhere else now. */
export async function earlierWorktree(
  choice: SessionChoice,
  { store, root, cwd }: { readonly store: SessionStore | undefined; readonly root: string; readonly cwd: string },
): Promise<EarlierWorktree> {
  const folder = join(root, worktreesFolder);
  if (choice.type === "new" || !existsSync(folder) || isInside(folder, cwd)) return {};
  const id = choice.type === "fork" ? choice.from : choice.id;
  const started = (await store?.read(id, { types: ["session.started"] }))?.findLast(({ taskId }) => taskId === undefined);
  if (started?.type !== "session.started" || !isInside(folder, started.cwd)) return {};
  const [name = ""] = relative(folder, started.cwd).split(sep);
  if (!existsSync(join(folder, name, ".git")))
    return { warning: `The session worked in the worktree ${name}, which is gone: it goes on in ${cwd}` };
  if (choice.type === "resume") return { name };
  return { warning: `The session that this is a copy of worked in the worktree ${name}; --worktree ${name} goes on there` };
}
