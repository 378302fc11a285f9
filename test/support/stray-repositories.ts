import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fillRepository, type Stage } from "./hostile-repositories.ts";

/** A repository that is, or says that its files are, where its folder does not show. */
export type StrayRepository = {
  readonly name: string;
  /** `project` is where git is started; `other` holds a secret, and a repository in which it is committed. */
  readonly build: (project: Stage, other: Stage) => void;
  readonly from?: string;
};

/** Files of a repository whose lines git shows, with lines that make it. */
const linked: readonly (readonly [name: string, text: string])[] = [
  ["shallow", "SECRET\n"],
  ["info/grafts", "SECRET\n"],
  ["info/exclude", "SECRET*\n"],
  ["info/attributes", "* SECRET\n"],
  ["logs/HEAD", `${"0".repeat(40)} COMMIT SECRET <a@b> 1 +0000\tSECRET\n`],
  ["BISECT_START", "SECRET\n"],
  ["rebase-merge/done", "SECRET\n"],
  ["rebase-merge/git-rebase-todo", "SECRET\n"],
  ["worktrees/x/gitdir", "/SECRET/.git\n"],
];

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
  ...["D/secret.txt", "deep/down/D/secret.txt", "new\nline/D/secret.txt"].map((name) => ({
    name: `a linked folder in front of the name ${JSON.stringify(name)} in its index`,
    build: (project: Stage, other: Stage) => linkBefore(project, name, other.folder),
  })),
  { name: "objects borrowed from another repository", build: (project, other) => alternate(project, other, other.folder) },
  { name: "objects borrowed by what it borrows from", build: alternateTwice },
  ...[
    "blame.ignoreRevsFile",
    "core.excludesFile",
    "core.attributesFile",
    "mailmap.file",
    "include.path",
    "includeIf.onbranch:main.path",
  ].map((key) => ({ name: `${key} for a file outside`, build: named(key) })),
  { name: "an included file that is a link", build: includeLink },
  ...linked.map(([name, text]) => ({ name: `.git/${name} as a link`, build: linkIn(name, text) })),
  { name: "a link in a .git that lies elsewhere in the project", build: linkInMoved },
];

/** Kept elsewhere, and known there; or with what only looks like the above. */
export const strays: readonly StrayRepository[] = [
  { name: "a repository with links for hooks", build: linkedHooks },
  { name: "a repository that borrows objects from one below it", build: borrowBelow },
  { name: "a repository that includes files of its own", build: includeOwn, from: "deep/er" },
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

function alternate(project: Stage, other: Stage, place: string): void {
  fillRepository(project);
  project.write(".git/objects/info/alternates", `${join(place, ".git/objects")}\n`);
  project.write(".git/refs/heads/main", other.git("rev-parse", "HEAD"));
}

function alternateTwice(project: Stage, other: Stage): void {
  alternate(project, other, join(project.folder, "deep"));
  project.git("init", "-q", "deep");
  mkdirSync(join(project.folder, "deep/.git/objects/info"), { recursive: true });
  project.write("deep/.git/objects/info/alternates", `${join(other.folder, ".git/objects")}\n`);
}

function named(key: string) {
  return (project: Stage, other: Stage): void => {
    fillRepository(project);
    const text = key.startsWith("include") ? "[user]\n\tnote = SECRET\n" : "* SECRET\n";
    const lines: Record<string, string> = {
      "core.excludesFile": "SECRET*\n",
      "mailmap.file": `SECRET <${project.git("log", "-1", "--format=%ae").trim()}>\n`,
    };
    other.write("lines", lines[key] ?? text);
    project.git("config", key, join(other.folder, "lines"));
  };
}

function includeLink(project: Stage, other: Stage): void {
  fillRepository(project);
  other.write("lines", "[user]\n\tnote = SECRET\n");
  symlinkSync(join(other.folder, "lines"), join(project.folder, "more"));
  project.git("config", "include.path", "../more");
}

function linkIn(name: string, text: string) {
  return (project: Stage, other: Stage): void => {
    fillRepository(project);
    const head = project.git("rev-parse", "HEAD").trim();
    other.write("lines", text.replace("COMMIT", head));
    const file = join(project.folder, ".git", name);
    mkdirSync(join(file, ".."), { recursive: true });
    rmSync(file, { force: true });
    symlinkSync(join(other.folder, "lines"), file);
    if (name.startsWith("rebase-merge")) {
      project.write(".git/rebase-merge/interactive", "");
      project.write(".git/rebase-merge/onto", `${head}\n`);
      project.write(".git/rebase-merge/head-name", "refs/heads/main\n");
      for (const list of ["done", "git-rebase-todo"])
        if (!name.endsWith(list)) project.write(`.git/rebase-merge/${list}`, "noop\n");
    }
    if (name.startsWith("BISECT")) project.write(".git/BISECT_LOG", "");
    if (name.startsWith("worktrees")) {
      project.write(".git/worktrees/x/HEAD", `${head}\n`);
      project.write(".git/worktrees/x/commondir", "../..\n");
    }
  };
}

function linkInMoved(project: Stage, other: Stage): void {
  linkIn("info/grafts", "SECRET\n")(project, other);
  renameSync(join(project.folder, ".git"), join(project.folder, "kept"));
  project.write(".git", "gitdir: kept\n");
}

function linkedHooks(project: Stage): void {
  fillRepository(project);
  mkdirSync(join(project.folder, ".git/hooks"), { recursive: true });
  symlinkSync("../../a.txt", join(project.folder, ".git/hooks/pre-commit"));
}

function borrowBelow(project: Stage, other: Stage): void {
  fillRepository(project);
  project.git("clone", "-q", other.folder, "below");
  project.write(".git/objects/info/alternates", "# kept below\n../../below/.git/objects\n");
  project.write(".git/refs/heads/main", other.git("rev-parse", "HEAD"));
}

function includeOwn(project: Stage): void {
  below(project);
  project.write(".gitconfig-of-all", "[diff]\n\tnoprefix = true\n");
  project.git("config", "include.path", "../.gitconfig-of-all");
}

/** git refuses to add what is behind a link, and reads it when the index has it. */
function linkBefore(project: Stage, name: string, target: string): void {
  fillRepository(project);
  const blob = project.git("hash-object", "-w", "a.txt").trim();
  project.git("update-index", "--add", "--cacheinfo", `100644,${blob},${name}`);
  const link = join(project.folder, dirname(name));
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(target, link);
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
