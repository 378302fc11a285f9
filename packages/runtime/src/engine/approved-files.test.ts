import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createLocalWorkspace } from "../workspace/local.ts";
import { forApprovedFiles } from "./approved-files.ts";

describe("forApprovedFiles", () => {
  it("writes what was approved, and refuses a link that was put in its place", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "outrider-approved-")));
    const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });
    try {
      const path = join(folder, "a.txt");
      const approved = forApprovedFiles(workspace, [await workspace.resolve("a.txt")]);
      await approved.writeFile("a.txt", "one");
      assert.equal(Buffer.from(await approved.readFile("a.txt")).toString(), "one");

      await writeFile(join(folder, "profile"), "untouched");
      await unlink(path);
      await symlink("profile", path);
      await assert.rejects(approved.writeFile("a.txt", "two"), {
        code: "usage",
        message: /not the file permission was given for/,
      });
      await assert.rejects(approved.writeFile("b.txt", "two"), { code: "usage" });
      assert.equal(await readFile(join(folder, "profile"), "utf8"), "untouched");
    } finally {
      await workspace.close();
      await rm(folder, { recursive: true });
    }
  });

  it("starts no program that outlives the call", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "outrider-approved-")));
    const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });
    try {
      const approved = forApprovedFiles(workspace, [folder]);
      const program = { file: "sleep", args: ["60"], cwd: folder, onOutput: () => {} };
      await assert.rejects(async () => approved.start(program), { code: "usage", message: /starts no program that outlives it/ });
    } finally {
      await workspace.close();
      await rm(folder, { recursive: true });
    }
  });

  it("reads what is in either of two approved places, and what is ignored around each", async () => {
    const top = await realpath(await mkdtemp(join(tmpdir(), "outrider-approved-")));
    const workspace = createLocalWorkspace({ root: top, env: {}, overflowDirectory: join(top, "overflow") });
    try {
      for (const folder of ["a/src", "b/src", "c"]) {
        await mkdir(join(top, folder), { recursive: true });
        await writeFile(join(top, folder, "x.txt"), folder);
        await writeFile(join(top, folder, "../.gitignore"), "rules");
      }
      const approved = forApprovedFiles(workspace, [join(top, "a/src"), join(top, "b/src/x.txt")]);
      const read = async (path: string): Promise<string> => Buffer.from(await approved.readFile(join(top, path))).toString();
      assert.deepEqual(await Promise.all(["a/src/x.txt", "b/src/x.txt", "a/.gitignore", "b/.gitignore"].map(read)), [
        "a/src",
        "b/src",
        "rules",
        "rules",
      ]);
      for (const path of ["c/x.txt", "a/src/../x.txt"]) await assert.rejects(read(path), path);
      assert.equal((await approved.readDirectory(join(top, "b/src"))).length, 1);
      await assert.rejects(approved.readDirectory(join(top, "c")));
    } finally {
      await workspace.close();
      await rm(top, { recursive: true });
    }
  });

  it("reads what is in an approved folder, and of the folders around it only what is ignored there", async () => {
    const top = await realpath(await mkdtemp(join(tmpdir(), "outrider-approved-")));
    const workspace = createLocalWorkspace({ root: top, env: {}, overflowDirectory: join(top, "overflow") });
    try {
      await mkdir(join(top, "src/inner"), { recursive: true });
      await mkdir(join(top, ".git/info"), { recursive: true });
      for (const path of [".gitignore", ".git/info/exclude", ".git/config", "secret", "src/a.txt", "src/inner/b.txt"])
        await writeFile(join(top, path), path);
      await symlink("inner/b.txt", join(top, "src/in"));
      await symlink("../secret", join(top, "src/out"));
      const approved = forApprovedFiles(workspace, [join(top, "src")]);
      const outcomes: Record<string, string> = {};
      const note = async (name: string, effect: Promise<unknown>): Promise<void> => {
        outcomes[name] = await effect.then(
          (value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : "yes"),
          (error: Error) => (/permission was given/.test(error.message) ? "no" : error.message),
        );
      };
      for (const path of ["src/a.txt", "src/inner/b.txt", "src/in", "src/out", "secret", ".gitignore", ".git/config"])
        await note(`read ${path}`, approved.readFile(join(top, path)));
      await note("read .git/info/exclude", approved.readFile(join(top, ".git/info/exclude")));
      await note("read by a relative path", approved.readFile("src/a.txt"));
      for (const path of ["src", "src/inner/b.txt", ".git", "secret", "src/out"])
        await note(`stat ${path}`, approved.stat(join(top, path)));
      for (const path of ["src", "src/inner", ".", ".git"]) await note(`list ${path}`, approved.readDirectory(join(top, path)));
      await note("write src/a.txt", approved.writeFile(join(top, "src/a.txt"), ""));
      assert.deepEqual(outcomes, {
        "read src/a.txt": "src/a.txt",
        "read src/inner/b.txt": "src/inner/b.txt",
        "read src/in": "src/inner/b.txt",
        "read src/out": "no",
        "read secret": "no",
        "read .gitignore": ".gitignore",
        "read .git/config": "no",
        "read .git/info/exclude": ".git/info/exclude",
        "read by a relative path": "src/a.txt",
        "stat src": "yes",
        "stat src/inner/b.txt": "yes",
        "stat .git": "yes",
        "stat secret": "no",
        "stat src/out": "no",
        "list src": "yes",
        "list src/inner": "yes",
        "list .": "yes", // for the names a mistyped one may have meant
        "list .git": "no",
        "write src/a.txt": "no",
      });
    } finally {
      await workspace.close();
      await rm(top, { recursive: true });
    }
  });

  it("throws away what a program said when the folder was swapped while it ran", async () => {
    const top = await realpath(await mkdtemp(join(tmpdir(), "outrider-approved-")));
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
    const workspace = createLocalWorkspace({ root: top, env, overflowDirectory: join(top, "overflow") });
    try {
      await mkdir(join(top, "src"));
      const approved = forApprovedFiles(workspace, [join(top, "src")]);
      const run = (script: string): Promise<unknown> =>
        approved.run({ file: "sh", args: ["-c", script], timeoutMs: 10_000, signal: new AbortController().signal });
      assert.deepEqual(await run("true"), { end: "exit", exitCode: 0 });
      await assert.rejects(run("mv src gone && ln -s / src"), { message: /not the file permission was given for/ });
      await assert.rejects(run("touch started"), { message: /not the file permission was given for/ });
      await unlink(join(top, "src"));
      await rename(join(top, "gone"), join(top, "src"));
      assert.equal(await workspace.stat("started"), undefined);
    } finally {
      await workspace.close();
      await rm(top, { recursive: true });
    }
  });
});
