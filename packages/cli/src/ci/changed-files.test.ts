import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { lookAtWorkTree } from "./changed-files.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-changed-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const patience = 20_000;

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  execFileSync("git", [...identity, ...args], { cwd, stdio: "ignore", env: { PATH: process.env["PATH"], HOME: folder } });
}

function repository(name: string, files: Record<string, string> = {}): string {
  const root = join(folder, name);
  mkdirSync(join(root, "sub"), { recursive: true });
  git(root, "init", "-q");
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text);
  git(root, "add", ".");
  git(root, "commit", "-q", "--allow-empty", "-m", "first");
  return root;
}

describe("lookAtWorkTree", () => {
  it("tells what changed since, and not what had changed before", async () => {
    const root = repository("changes", {
      "clean.txt": "1",
      "dirty.txt": "1",
      "dirtier.txt": "1",
      "gone.txt": "1",
      "a b\n.txt": "1",
    });
    for (const file of ["dirty.txt", "dirtier.txt", "old-new.txt"]) writeFileSync(join(root, file), "22");
    const tree = await lookAtWorkTree(root, patience);
    writeFileSync(join(root, "dirtier.txt"), "333");
    writeFileSync(join(root, "sub/new.txt"), "1");
    writeFileSync(join(root, "a b\n.txt"), "2");
    rmSync(join(root, "gone.txt"));
    assert.deepEqual(await tree?.changes(patience), ["a b\n.txt", "dirtier.txt", "gone.txt", "sub/new.txt"]);
  });

  it("leaves out what the command writes itself, be it a file, a folder or by way of a link", async () => {
    const root = repository("own");
    const link = join(folder, "own-link");
    symlinkSync(root, link);
    const tree = await lookAtWorkTree(root, patience, [join(root, "run.json"), join(link, "page.html"), join(root, "calls")]);
    mkdirSync(join(root, "calls"));
    for (const file of ["run.json", "page.html", "calls/1.json", "calls.txt", "page.html.bak"])
      writeFileSync(join(root, file), "1");
    assert.deepEqual(await tree?.changes(patience), ["calls.txt", "page.html.bak"]);
  });

  it("sees through commits, and says paths as they are written in the working directory", async () => {
    const root = repository("commits", { "a.txt": "1" });
    const tree = await lookAtWorkTree(join(root, "sub"), patience);
    writeFileSync(join(root, "a.txt"), "2");
    writeFileSync(join(root, "sub/b.txt"), "1");
    git(root, "add", ".");
    git(root, "commit", "-q", "-m", "second");
    assert.deepEqual(await tree?.changes(patience), [join(root, "a.txt"), "b.txt"]);
  });

  it("works before the first commit", async () => {
    const root = join(folder, "unborn");
    mkdirSync(root);
    git(root, "init", "-q");
    const tree = await lookAtWorkTree(root, patience);
    writeFileSync(join(root, "a.txt"), "1");
    assert.deepEqual(await tree?.changes(patience), ["a.txt"]);
  });

  it("says nothing outside of a work tree", async () => {
    const plain = join(folder, "plain");
    mkdirSync(plain);
    assert.equal(await lookAtWorkTree(plain, patience), undefined);
  });

  for (const key of ["core.fsmonitor", "filter.x.clean"]) {
    it(`runs nothing that the repository asks for (${key}), also when it asks during the run`, async () => {
      const root = repository(key, { ".gitattributes": "*.txt filter=x\n", "a.txt": "1" });
      const script = join(root, "evil.sh");
      writeFileSync(script, `#!/bin/sh\ntouch ${join(root, "ran")}\n`);
      chmodSync(script, 0o755);
      const tree = await lookAtWorkTree(root, patience);
      git(root, "config", key, script);
      writeFileSync(join(root, "a.txt"), "2");
      assert.deepEqual(await tree?.changes(patience), ["a.txt"]);
      assert.ok(await lookAtWorkTree(root, patience));
      assert.equal(existsSync(join(root, "ran")), false);
    });
  }

  it("runs no hook that looking would run", async () => {
    const root = repository("hooks", { "a.txt": "1" });
    const tree = await lookAtWorkTree(root, patience);
    writeFileSync(join(root, ".git/hooks/post-index-change"), `#!/bin/sh\ntouch ${join(root, "ran")}\n`, { mode: 0o755 });
    writeFileSync(join(root, "a.txt"), "2");
    assert.deepEqual(await tree?.changes(patience), ["a.txt"]);
    assert.equal(existsSync(join(root, "ran")), false);
  });
});
