import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type BoxPlaces, isSamePlan, planBox, writableDirectories } from "./box-plan.ts";
import { protectPaths } from "./protected-paths.ts";
import { repositoryOfWorktree } from "./git-directory.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-plan-")));
after(() => rmSync(top, { recursive: true, force: true }));
for (const folder of ["project", "home/cache", "home/.ssh", "shared", "overflow", "tmp"])
  mkdirSync(join(top, folder), { recursive: true });
writeFileSync(join(top, "project/.env"), "KEY=1");
writeFileSync(join(top, "project/file"), "");
symlinkSync(join(top, "shared"), join(top, "project/link"));

const places: BoxPlaces = {
  root: join(top, "project"),
  home: join(top, "home"),
  hidden: [{ type: "hide", path: join(top, "home") }],
  allowWrite: [],
  denyRead: [],
  denyWrite: [],
  overflowDirectory: join(top, "overflow"),
  temporary: join(top, "tmp"),
  identity: undefined,
  writes: [],
  sharesNetwork: false,
  proxyDirectory: undefined,
  contested: new Set(),
};
const planned = (more: Partial<BoxPlaces>): string[] =>
  planBox({ ...places, ...more }).mounts.map(
    ({ type, path }) => `${type} ${path.startsWith(top) ? path.slice(top.length + 1) : path}`,
  );

describe("what a box shows of the machine", () => {
  it("is the project and the listed folders to write, by what their names stand for", () => {
    const { root, home } = places;
    const allowWrite = ["~/cache", "link", join(top, "missing"), "link"];
    assert.deepEqual(writableDirectories({ root, home, allowWrite }), [root, join(top, "home/cache"), join(top, "shared")]);
    assert.deepEqual(writableDirectories({ root, home, allowWrite: ["~"] }), [root, join(top, "home")]);
    assert.deepEqual(writableDirectories({ root, home: undefined, allowWrite: ["~/cache"] }), [root]);
    assert.throws(() => writableDirectories({ root, home, allowWrite: ["/"] }), { code: "config" });
  });

  it("is nothing of what must not be read, whatever else is open", () => {
    const mounts = planned({
      denyRead: [".env", "~/cache", "missing"],
      allowWrite: ["~/cache"],
      writes: [join(top, "project/file")],
    });
    assert.ok(mounts.includes("mask project/.env") && mounts.includes("hide home/cache"));
    assert.ok(mounts.includes("writable project/file") && mounts.includes("read-only overflow"));
    assert.ok(!mounts.includes("writable home/cache"));
  });

  it("is written to nowhere but where it may be, and hides what it hid", () => {
    const denyWrite = [".env", "link", "~/.ssh", "missing"];
    const mounts = planned({ denyWrite, denyRead: [".env"] });
    assert.ok(mounts.includes("mask project/.env") && !mounts.some((mount) => /^read-only (?:home|shared)/.test(mount)));
    assert.ok(planned({ denyWrite }).includes("read-only project/.env"));
    assert.ok(planned({ denyWrite, allowWrite: ["link"] }).includes("read-only shared"));
    assert.ok(!planned({ denyWrite: ["."] }).includes("writable project"));
  });

  it("is the user's name for git where the home is hidden, and the way to the proxy where there is one", () => {
    const identity = join(top, "identity");
    assert.ok(planned({ identity }).includes("read-only home/.gitconfig"));
    assert.ok(!planned({ identity, hidden: [] }).includes("read-only home/.gitconfig"));
    assert.ok(!planned({ identity, home: undefined }).includes("read-only home/.gitconfig"));
    assert.ok(!planned({}).includes("read-only home/.gitconfig"));
    assert.ok(planned({ proxyDirectory: top }).includes("read-only /run/outrider"));
    assert.ok(!planned({}).includes("read-only /run/outrider"));
  });

  it("hides the secrets of a home that may be written", () => {
    assert.ok(planned({ allowWrite: ["~"], hidden: [] }).includes("hide home/.ssh"));
  });

  it("is the same for the same places, and another one when something came or went", () => {
    assert.equal(isSamePlan(planBox(places), planBox({ ...places, root: join(top, "project") })), true);
    assert.equal(isSamePlan(planBox(places), planBox({ ...places, denyRead: [".env"] })), false);
    const before = planBox(places);
    mkdirSync(join(top, "project/.codex"));
    writeFileSync(join(top, "project/.codex/config.toml"), "");
    assert.equal(isSamePlan(before, planBox(places)), false);
  });
});

describe("a worktree's repository", () => {
  const repository = join(top, "repo/.git");
  const own = join(repository, "worktrees/w");
  const worktree = join(top, "w");
  for (const folder of [
    worktree,
    own,
    join(repository, "objects"),
    join(repository, "refs"),
    join(repository, "hooks"),
    join(top, "bare/worktrees/w"),
  ])
    mkdirSync(folder, { recursive: true });
  const write = (path: string, text: string): void => writeFileSync(join(top, path), text);
  write("repo/.git/HEAD", "ref: refs/heads/main\n");
  write("repo/.git/config", "");
  write("w/.git", `gitdir: ${own}\n`);
  write("repo/.git/worktrees/w/gitdir", `${worktree}/.git\n`);
  write("repo/.git/worktrees/w/commondir", "../..\n");

  it("is what names the worktree back, and keeps what decides in it", () => {
    assert.equal(repositoryOfWorktree(worktree), repository);
    const { mounts } = protectPaths({ writable: [worktree, join(top, "shared")], homes: [], contested: new Set() });
    const words = mounts.map(({ type, path }) => `${type} ${path.slice(top.length + 1)}`);
    for (const word of [
      "read-only w/.git",
      "writable repo/.git",
      "read-only repo/.git/config",
      "read-only repo/.git/worktrees/w/gitdir",
    ])
      assert.ok(words.includes(word), `${word} is not among ${words.join(", ")}`);
  });

  it("is kept where another folder may be written too, and a link to it is followed there", () => {
    mkdirSync(join(top, "linked"), { recursive: true });
    symlinkSync(repository, join(top, "linked/.git"));
    const plan = (writable: string[]): string[] =>
      protectPaths({ writable, homes: [], contested: new Set() }).mounts.map(
        ({ type, path }) => `${type} ${path.slice(top.length + 1)}`,
      );
    assert.ok(plan([join(top, "linked"), join(top, "repo")]).includes("read-only repo/.git/config"));
    assert.ok(!plan([join(top, "linked"), join(top, "shared")]).includes("read-only repo/.git/config"));
  });

  it("is none where only one side says so, or what is named is no repository", () => {
    write("repo/.git/worktrees/w/commondir", "../../..\n");
    assert.equal(repositoryOfWorktree(worktree), undefined);
    write("repo/.git/worktrees/w/commondir", "../..\n");
    write("repo/.git/worktrees/w/gitdir", `${join(top, "shared")}/.git\n`);
    assert.equal(repositoryOfWorktree(worktree), undefined);
    write("w/.git", `gitdir: ${join(top, "bare/worktrees/w")}\n`);
    write("bare/worktrees/w/gitdir", `${worktree}/.git\n`);
    write("bare/worktrees/w/commondir", "../..\n");
    assert.equal(repositoryOfWorktree(worktree), undefined);
    write("w/.git", "gitdir: nowhere\n");
    assert.equal(repositoryOfWorktree(worktree), undefined);
  });
});
