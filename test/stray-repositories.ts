import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillRepository, type Stage } from "./hostile-repositories.ts";

/** A repository that is, or says that its files are, where its folder does not show. */
export type StrayRepository = {
  readonly name: string;
  /** `project` is where git is started; `other` holds a secret, and a repository in which it is committed. */
  readonly build: (project: Stage, other: Stage) => void;
  readonly from?: string;
};

/** Show what is outside: nothing of it may be seen. */
export const leaks: readonly StrayRepository[] = [
  { name: "files that are elsewhere", build: withTree((other) => other.folder) },
  { name: "files that are above", build: withTree(() => "../..") },
  { name: "files that are everywhere", build: withTree(() => "/") },
  { name: "a .git file for another repository", build: (project, other) => pointTo(project, join(other.folder, ".git")) },
  { name: "a .git link to another repository", build: linkTo },
  { name: "a common folder of another repository", build: (project, other) => shareCommon(project, join(other.folder, ".git")) },
  { name: "a worktree that another repository does not know", build: pretend },
  { name: "objects of another repository", build: borrow },
  { name: "an index that names files above", build: (project) => rename(project, "aa/other/secret.txt", "../other/secret.txt") },
  {
    name: "an index that names files above in the middle",
    build: (project) => rename(project, "aa/bb/xx/other/secret.txt", "aa/../../other/secret.txt"),
  },
  { name: "an index that names files by their whole path", build: nameAbsolutely },
];

/** Kept elsewhere, and known there. */
export const strays: readonly StrayRepository[] = [
  { name: "a linked worktree beside its repository", build: worktreeBeside, from: "../tree" },
  { name: "a linked worktree in its repository", build: worktreeInside, from: "tree" },
  { name: "a submodule", build: submodule, from: "sub" },
  { name: "a repository moved below its files", build: moved },
  { name: "a folder of a repository above", build: below, from: "deep/er" },
];

function withTree(place: (other: Stage) => string) {
  return (project: Stage, other: Stage): void => {
    fillRepository(project);
    for (const name of ["secret.txt", "other/secret.txt", join(other.folder, "secret.txt").slice(1)]) {
      mkdirSync(join(project.folder, name, ".."), { recursive: true });
      project.write(name, "x\n");
    }
    project.git("add", ".");
    project.git("commit", "-q", "-m", "third");
    project.git("config", "core.worktree", place(other));
  };
}

function pointTo(project: Stage, place: string): void {
  fillRepository(project);
  rmSync(join(project.folder, ".git"), { recursive: true });
  project.write(".git", `gitdir: ${place}\n`);
}

function linkTo(project: Stage, other: Stage): void {
  symlinkSync(join(other.folder, ".git"), join(project.folder, ".git"));
}

function shareCommon(project: Stage, place: string): void {
  mkdirSync(join(project.folder, ".git"));
  project.write(".git/HEAD", "ref: refs/heads/main\n");
  project.write(".git/commondir", `${place}\n`);
}

function pretend(project: Stage, other: Stage): void {
  mkdirSync(join(project.folder, "admin"));
  project.write("admin/HEAD", "ref: refs/heads/main\n");
  project.write("admin/commondir", `${join(other.folder, ".git")}\n`);
  project.write("admin/gitdir", `${join(project.folder, ".git")}\n`);
  project.write(".git", "gitdir: admin\n");
}

function borrow(project: Stage, other: Stage): void {
  fillRepository(project);
  for (const name of ["objects", "refs"]) {
    rmSync(join(project.folder, ".git", name), { recursive: true });
    symlinkSync(join(other.folder, ".git", name), join(project.folder, ".git", name));
  }
}

/** git refuses to add such a name, and believes an index that has it. */
function rename(project: Stage, name: string, as: string): void {
  project.git("init", "-q", "-b", "main", ".");
  mkdirSync(join(project.folder, name, ".."), { recursive: true });
  project.write(name, "x\n");
  project.git("add", ".");
  project.git("commit", "-q", "-m", "first");
  writeIndex(project, name, as);
}

function writeIndex(project: Stage, name: string, as: string): void {
  const file = join(project.folder, ".git/index");
  const text = readFileSync(file).toString("latin1");
  const body = Buffer.from(text.replace(name, as).slice(0, -20), "latin1");
  writeFileSync(file, Buffer.concat([body, createHash("sha1").update(body).digest()]));
}

function nameAbsolutely(project: Stage, other: Stage): void {
  const whole = join(other.folder, "secret.txt");
  rename(project, `a${whole.slice(1).replaceAll("/", "_")}`, whole);
}

function worktreeBeside(project: Stage): void {
  fillRepository(project);
  project.git("worktree", "add", "-q", "../tree");
}

function worktreeInside(project: Stage): void {
  fillRepository(project);
  project.git("worktree", "add", "-q", "tree");
}

function submodule(project: Stage, other: Stage): void {
  fillRepository(project);
  project.git("submodule", "--quiet", "add", other.folder, "sub");
}

function moved(project: Stage): void {
  fillRepository(project);
  renameSync(join(project.folder, ".git"), join(project.folder, "kept"));
  project.write(".git", "gitdir: kept\n");
}

function below(project: Stage): void {
  fillRepository(project);
  mkdirSync(join(project.folder, "deep/er"), { recursive: true });
}
