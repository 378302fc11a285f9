import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { BatchUnit } from "../tasks/task.ts";
import { Workspaces } from "./workspaces.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-workspaces-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function unitOf(task: Partial<BatchUnit["task"]>): BatchUnit {
  return { id: "t", taskId: "t", repetition: 1, model: undefined, task: { id: "t", prompt: "p", ...task } };
}

/** A machine at a time of its own. */
function machine(name: string, date: string): Workspaces {
  const place = join(folder, name);
  mkdirSync(place);
  const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return new Workspaces(place, { PATH: process.env["PATH"] ?? "", HOME: place, ...dates });
}

describe("a task's own folder", () => {
  it("has the same base on each machine, so that a patch is made wherever the task ends", async () => {
    const seed = join(folder, "seed");
    mkdirSync(seed);
    writeFileSync(join(seed, "a"), "one\n");
    const [first, second] = [machine("first", "@1000000000 +0000"), machine("second", "@1100000000 +0000")];
    const prepared = await first.prepare(unitOf({ seed }), "t");
    const moved = await second.prepare(unitOf({ seed }), "t");
    writeFileSync(join(moved.cwd, "a"), "two\n");
    const file = join(folder, "moved.patch");
    await second.patch({ ...moved, own: { root: moved.cwd, base: prepared.own?.base ?? "" } }, file);
    assert.match(readFileSync(file, "utf8"), /-one\n\+two/);
  });

  it("gives a patch byte for byte, in whichever encoding its files are", async () => {
    const seed = join(folder, "latin");
    mkdirSync(seed);
    writeFileSync(join(seed, "words.txt"), Buffer.from("gr\xfcn\n", "latin1"));
    const here = machine("encodings", "@1000000000 +0000");
    const prepared = await here.prepare(unitOf({ seed }), "t");
    writeFileSync(join(prepared.cwd, "words.txt"), Buffer.from("bl\xe4u\n", "latin1"));
    const file = join(folder, "latin.patch");
    await here.patch(prepared, file);
    execFileSync("git", ["apply", file], { cwd: seed });
    assert.equal(readFileSync(join(seed, "words.txt"), "latin1"), "bl\xe4u\n");
  });

  it("gives a patch whatever the agent did to the checkout's own repository, and never touches one around it", async () => {
    const source = join(folder, "source");
    mkdirSync(source);
    const git = (cwd: string, ...words: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...words], { cwd, encoding: "utf8" });
    git(source, "init", "-q");
    writeFileSync(join(source, "a"), "one\n");
    git(source, "add", "-A");
    git(source, "commit", "-qm", "one");
    const here = machine("around", "@1000000000 +0000");
    git(join(folder, "around"), "init", "-q");
    for (const [name, task] of Object.entries({
      copied: { seed: source },
      "checked-out": { git: { repository: source, commit: "HEAD" } },
    })) {
      const prepared = await here.prepare(unitOf(task), name);
      const marker = join(folder, `${name}-ran`);
      git(prepared.cwd, "config", "filter.evil.clean", `touch ${marker}; cat`);
      writeFileSync(join(prepared.cwd, ".gitattributes"), "a filter=evil\n");
      writeFileSync(join(prepared.cwd, "a"), "two\n");
      const file = join(folder, `${name}.patch`);
      await here.patch(prepared, file);
      assert.equal(existsSync(marker), false);
      rmSync(file);
      rmSync(join(prepared.cwd, ".git"), { recursive: true });
      await here.patch(prepared, file);
      assert.match(readFileSync(file, "utf8"), /-one\n\+two/);
      here.remove(name);
    }
    assert.equal(git(join(folder, "around"), "diff", "--cached", "--name-only"), "");
  });

  it("leaves no patch where nothing was changed, empty folders of submodules included", async () => {
    const source = join(folder, "with-submodule");
    mkdirSync(source);
    const git = (...words: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...words], { cwd: source, encoding: "utf8" });
    git("init", "-q");
    writeFileSync(join(source, "a"), "one\n");
    git("add", "-A");
    git("commit", "-qm", "one");
    git("update-index", "--add", "--cacheinfo", `160000,${git("rev-parse", "HEAD").trim()},sub`);
    git("commit", "-qm", "a submodule");
    const here = machine("unchanged", "@1000000000 +0000");
    const prepared = await here.prepare(unitOf({ git: { repository: source, commit: "HEAD" } }), "t");
    const file = join(folder, "unchanged.patch");
    await here.patch(prepared, file);
    assert.equal(existsSync(file), false);
  });
});
