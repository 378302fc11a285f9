import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { canary, createGround, type Ground } from "./command-ground.ts";
import { fillRepository, hostileRepositories, nameOddly, oddNames, stageIn } from "./hostile-repositories.ts";
import type { Random } from "./random-commands.ts";
import { leaks } from "./stray-repositories.ts";

/** A project with links, canaries and a repository that is hostile; beside it a folder, a home and a repository of somebody else. */
export type CanaryGround = Ground & {
  readonly name: string;
  readonly top: string;
  /** Below the project: where commands are started. */
  readonly from: string;
  /** It is there when a program of the project, or one that its repository names, was run. */
  readonly mark: string;
  /** Texts that are only outside of the project, one of them in the names of files. */
  readonly foreign: readonly string[];
};

/** Files of the project that a rule may close, with a text that no other file has. */
export const closable: Readonly<Record<string, string>> = {
  ".env": "canary-inside-91d",
  "secrets/key.txt": "canary-secret-5ab",
};

const canaryName = "canary-name-e41";
const foreign: readonly string[] = [canary, canaryName];

export function createCanaryGround(random: Random): CanaryGround {
  const hasOddIndex = random.below(4) === 0;
  const ground = createGround({ hostile: !hasOddIndex && random.below(4) > 0 });
  const { root } = ground;
  const top = dirname(root);
  const mark = `${top}.mark`;
  if (existsSync(join(root, ".git"))) rmdirSync(join(root, ".git"));
  const stage = stageIn(root, mark);
  fillProject(root, stage.evil);
  const known = { ...ground, top, mark, remove: () => [ground.remove(), rmSync(mark, { force: true })] };
  if (hasOddIndex) {
    const secret = join(top, "outside/secret.txt");
    nameOddly(stage, random.pick(oddNames)(secret), secret);
    // What `cat -v` makes of this letter ends with a blank.
    mkdirSync(join(root, `\u00e0${secret}`, ".."), { recursive: true });
    writeFileSync(join(root, `\u00e0${secret}`), "");
    return { ...known, name: "odd names in the index", from: ".", foreign };
  }
  if (random.below(6) === 0) return { ...known, name: "no repository", from: ".", foreign };
  if (random.below(6) === 0) {
    const other = stageIn(join(top, "other"), mark);
    fillRepository(other);
    other.write("secret.txt", "SECRET\n");
    other.git("add", ".");
    other.git("commit", "-q", "-m", "SECRET");
    const { name, build, from = "." } = random.pick(leaks);
    build(stage, other);
    return { ...known, name, from, foreign: [...foreign, "SECRET"] };
  }
  const { name, build, from = "." } = random.pick(hostileRepositories);
  build(stage);
  rmSync(mark, { force: true });
  return { ...known, name, from, foreign };
}

/** Files whose content becomes code, or names of files, where it is believed. */
function fillProject(root: string, evil: string): void {
  const top = dirname(root);
  const run = `#!/bin/sh\nexec ${evil}\n`;
  const files: Readonly<Record<string, string>> = {
    ".env": `${closable[".env"]}\n`,
    "secrets/key.txt": `${closable["secrets/key.txt"]}\n`,
    a: "../outside/secret.txt\n",
    b: "a[$(./evil)]\n",
    c: ".env\n",
    "0.txt": "../outside/secret.txt\0",
    evil: run,
    "bin2/ls": run,
    "bin2/cat": run,
    Makefile: `all:\n\t${evil}\n`,
    ".claude/settings.json": "{}\n",
    ".vscode/tasks.json": "{}\n",
    "../home/secret.txt": `${canary}\n`,
    "../home/.bashrc": `${evil}\n`,
    [`../home/${canaryName}`]: "",
    [`../outside/${canaryName}`]: "",
    [`../${canaryName}`]: "",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: text === run ? 0o755 : 0o644 });
  }
  symlinkSync("secrets", join(root, "open"));
  mkdirSync(join(top, "outside"), { recursive: true });
}

/** How a text looks when a program has encoded it. */
export function spellings(text: string): string[] {
  const bytes = Buffer.from(text);
  return [
    text,
    text.toUpperCase(),
    [...text].reverse().join(""),
    bytes.toString("hex"),
    bytes.toString("base64").slice(0, -3),
    [...text].join("   "),
  ];
}

type Entry = { readonly path: string; readonly size: number; readonly mode: number; readonly changed: number };
/** Everything below a folder, with links as links. */
export type Picture = ReadonlyMap<string, Entry>;

export function pictureOf(folder: string): Picture {
  const found = new Map<string, Entry>();
  const visit = (at: string): void => {
    for (const name of readdirSync(join(folder, at))) {
      if (name === "index") continue; // git notes there which files it has compared
      const path = at === "" ? name : `${at}/${name}`;
      const { size, mode, mtimeMs } = lstatSync(join(folder, path));
      found.set(path, { path, size: isFolder(mode) ? 0 : size, mode, changed: isFolder(mode) ? 0 : mtimeMs });
      if (isFolder(mode)) visit(path);
    }
  };
  visit("");
  return found;
}

const isFolder = (mode: number): boolean => (mode & 0o170000) === 0o040000;
const isFile = (mode: number): boolean => (mode & 0o170000) === 0o100000;

/** Paths that are new, gone or different. */
export function differences(before: Picture, after: Picture): string[] {
  const isSame = (path: string): boolean => {
    const [one, two] = [before.get(path), after.get(path)];
    return one?.size === two?.size && one?.mode === two?.mode && one?.changed === two?.changed;
  };
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => !isSame(path));
}

/** The text of a plain file; of anything else nothing. */
export function textAt(folder: string, { path, mode }: Entry): string {
  return isFile(mode) ? readFileSync(join(folder, path), "latin1") : "";
}
