import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { decide } from "../../packages/runtime/src/permissions/decide.ts";
import type { Decision, Policy, ResolvePath } from "../../packages/runtime/src/permissions/policy.ts";
import { createProgramFinder } from "../../packages/runtime/src/permissions/program-finder.ts";
import { parseRule } from "../../packages/runtime/src/permissions/rules.ts";
import { createLocalWorkspace } from "../../packages/runtime/src/workspace/local.ts";

export type Ground = {
  readonly root: string;
  policy(given?: Partial<Policy>): Policy;
  judge(command: string, given?: Partial<Policy>): Promise<Decision>;
  remove(): void;
};

export const canary = "canary-outside-7c1";

/** A project on the disk, with a folder beside it that is none of its business. `hostile`: its links lead there, and its names are odd. */
export function createGround({ hostile = false } = {}): Ground {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-ground-")));
  const root = join(top, "project");
  const write = (path: string, text = "text\n"): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of plainFiles) write(path);
  write("package.json", '{"name":"x","env":{"a":1},"scripts":{"a":"b"},"dependencies":{}}\n');
  write(".env", "KEY=inside\n");
  write("../outside/secret.txt", `${canary}\n`);
  if (hostile) {
    for (const [path, target] of hostileLinks) symlinkSync(target, join(root, path));
    write("p/payload.cfg");
    symlinkSync("../.git", join(root, "p/l"));
    symlinkSync("../../outside", join(root, "p/o"));
    for (const path of [
      "json.py",
      "rust-toolchain.toml",
      ".npmrc",
      "bunfig.toml",
      ".shellcheckrc",
      "a.sh",
      "--compress-program=x",
      "-exec",
      "odd dir /etc/passwd",
      "x ../outside/secret.txt/y",
    ])
      write(path);
    mkdirSync(join(root, ".git"));
    mkdirSync(join(root, "bin2"));
    write("bin2/ls", "#!/bin/sh\n");
  }
  const policy = (given: Partial<Policy> = {}): Policy => ({
    mode: "default",
    allow: [],
    ask: [],
    deny: [],
    base: { root, home: join(top, "home") },
    readable: [],
    inertGit: async () => "/inert",
    environment: new Set(["PATH", "HOME", "LANG", "EDITED", "NODE_OPTIONS"]),
    listFolder: async (folder) => listFolder(folder),
    programs: createProgramFinder({
      path: process.env["PATH"],
      roots: [root],
      isFile: async (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
      resolve: async (path) => realpathSync(path),
    }),
    ...given,
  });
  return {
    root,
    policy,
    judge: (command, given) => decide(policy(given), [{ tool: "Bash", kind: "run", resource: command }], resolveExisting),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

export const toRules = (texts: readonly string[]): Policy["allow"] => texts.map((text) => parseRule(text));

/** Links are followed as the workspace does it, also those that lead to nothing yet. */
export const resolveExisting: ResolvePath = createLocalWorkspace({ root: "/", env: {}, overflowDirectory: tmpdir() }).resolve;

/** What is in a folder, as the workspace tells it: by the names in the path, so that `link/..` is where the link lies. */
export function listFolder(folder: string): { name: string; kind: "file" | "directory" | "symlink" | "other" }[] | undefined {
  try {
    return readdirSync(resolve(folder), { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink() ? "symlink" : entry.isDirectory() ? "directory" : entry.isFile() ? "file" : "other",
    }));
  } catch {
    return undefined;
  }
}

const plainFiles = [
  ..."a b c a.txt b.txt log.txt README.md x.ts a.bin a.json data.yaml payload.cfg top.txt Makefile".split(" "),
  ..."src/a.ts src/b.ts src/deep/c.ts test/a.test.ts bin/x docs/guide.md empty/.keep".split(" "),
];

const hostileLinks: readonly (readonly [string, string])[] = [
  ["linkf.txt", "../outside/secret.txt"],
  ["linkd", "../outside"],
  ["src/linkf.ts", "../../outside/secret.txt"],
  ["etc", "../outside"],
  ["packed.zip", "../outside/secret.txt"],
  ["packed.gz", "../outside/secret.txt"],
  ["self", "."],
  // One file to whoever judges, another to the command.
  ["here", "/proc/self/cwd"],
  ["here.txt", "/proc/self/cwd/../outside/secret.txt"],
  ["herekey", "/proc/thread-self/cwd/key.txt"],
  ["src/here.ts", "../here/../outside/secret.txt"],
  ["test/[a]b", "../../outside/secret.txt"],
  ["test/😀", "../../outside/secret.txt"],
];
