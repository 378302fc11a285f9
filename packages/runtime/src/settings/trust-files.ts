import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { defined } from "../util/defined.ts";

/** A name that counts for trust: a file, or a link with where it leads. `content`: there is something behind it to read. */
export type ProjectFile = { readonly name: string; readonly path: string; readonly link?: string; readonly content: boolean };

export type Bounds = { readonly files: number; readonly bytes: number };

export const defaultBounds: Bounds = { files: 2_000, bytes: 20 * 1024 * 1024 };

/** Folders agents write into all the time; nothing in them is run, and nothing in them is a setting. */
const working: ReadonlySet<string> = new Set(["memory", "tasks", "worktrees", "plans", "tmp", "sessions", "checkpoints"]);
const maxDepth = 32;
const maxText = 100_000;

/** Every file below the folders where a project keeps settings, hooks, skills and agents. Throws when there are too many. */
export function listProjectFiles(root: string, folders: readonly string[], bounds: Bounds = defaultBounds): ProjectFile[] {
  const found: ProjectFile[] = [];
  const add = (file: ProjectFile): void => {
    found.push(file);
    if (found.length > bounds.files) throw new RuntimeError("config", `there are more than ${bounds.files} files to look at`);
  };
  const visit = (name: string, above: readonly string[]): void => {
    const path = join(root, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (!entry) return;
    const link = entry.isSymbolicLink() ? readlinkSync(path) : undefined;
    const stat = link === undefined ? entry : statSync(path, { throwIfNoEntry: false });
    const isFolder = stat?.isDirectory() ?? false;
    if (!isFolder || link !== undefined) add({ name, path, content: stat !== undefined && !isFolder, ...defined({ link }) });
    if (!isFolder) return;
    const real = realpathSync(path);
    if (above.includes(real)) return; // a link to where it is itself
    if (above.length > maxDepth) throw new RuntimeError("config", `${name} is nested too deeply`);
    for (const child of readdirSync(path).sort()) {
      if (above.length > 0 || !working.has(child)) visit(`${name}/${child}`, [...above, real]);
    }
  };
  for (const folder of folders) visit(folder, []);
  return found;
}

/** Files of the project that a text names, as a command does: `./x.sh`, `"$CLAUDE_PROJECT_DIR"/x.sh`, `node tools/x.mjs`, `--config=x`. */
export function filesNamedIn(text: string, root: string): string[] {
  if (text.length > maxText) throw new RuntimeError("config", `a command or text is longer than ${maxText} characters`);
  const spelled = text.replace(/\$\{?(?:CLAUDE|OUTRIDER)_PROJECT_DIR\}?/g, root).replace(/\$\{?PWD\}?/g, root);
  const words = spelled.replace(/["'`\\]/g, "").split(/[\s;&|<>(){}=,:]+/);
  const tools = words.flatMap((word) => (Object.hasOwn(readByTools, word) ? (readByTools[word] ?? []) : []));
  return [...new Set([...words, ...spelled.split(/["']/), ...tools])].flatMap((word) => {
    const name = word && word.length < 4096 && !word.includes("\0") ? relative(root, resolve(root, word)) : "";
    const inside = name !== "" && name !== ".." && !name.startsWith(`..${sep}`) && !name.startsWith(sep);
    return inside && isFile(join(root, name)) ? [name] : [];
  });
}

/** Files that tools take their commands from without being told. */
const readByTools: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json", ".npmrc"],
  npx: ["package.json", ".npmrc"],
  pnpm: ["package.json", ".npmrc", "pnpm-workspace.yaml"],
  yarn: ["package.json", ".yarnrc.yml", ".yarnrc"],
  bun: ["package.json", "bunfig.toml"],
  bunx: ["package.json", "bunfig.toml"],
  deno: ["deno.json", "deno.jsonc"],
  make: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile"],
  task: ["Taskfile.yml", "Taskfile.yaml"],
  cargo: ["Cargo.toml", ".cargo/config.toml"],
  uv: ["pyproject.toml", "uv.toml"],
  poetry: ["pyproject.toml"],
};

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return true; // it is there and cannot be looked at: its reader will say so
  }
}

/** Content and whether it may be executed. A pipe or device is never opened. Throws when it cannot be read. */
export function readProjectFile(path: string, maxBytes: number): { readonly bytes: Buffer; readonly executable: boolean } {
  if (!statSync(path).isFile()) throw new RuntimeError("config", `${path} is no regular file`); // opening is an event for some devices
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new RuntimeError("config", `${path} is no regular file`);
    if (stat.size > maxBytes) throw new RuntimeError("config", `there is too much to look at (${path} has ${stat.size} bytes)`);
    const bytes = Buffer.alloc(stat.size + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, null);
    if (length > stat.size) throw new RuntimeError("config", `${path} is being written`);
    return { bytes: bytes.subarray(0, length), executable: (stat.mode & 0o100) !== 0 };
  } finally {
    closeSync(file);
  }
}
