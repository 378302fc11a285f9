import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The branch that is checked out in a folder, read without running git; undefined outside a repository and on no branch. */
export function gitBranchOf(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const head = read(join(folder, ".git/HEAD")) ?? worktreeHead(folder);
    if (head !== undefined) return /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1];
    if (dirname(folder) === folder) return undefined;
  }
}

/** In a worktree `.git` is a file that says where its state is. */
function worktreeHead(folder: string): string | undefined {
  const place = /^gitdir: (.+)$/m.exec(read(join(folder, ".git")) ?? "")?.[1];
  return place === undefined ? undefined : read(join(resolve(folder, place), "HEAD"));
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
