import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { hiddenMounts, openHomes, secretMounts } from "./hidden-paths.ts";
import { protectPaths } from "./protected-paths.ts";
import { putAway } from "./put-away.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-hidden-")));
after(() => rmSync(top, { recursive: true, force: true }));

function folder(name: string, files: Record<string, string> = {}): string {
  const path = join(top, name);
  mkdirSync(path, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(path, file, ".."), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return path;
}

/** Those of this test, as one word each. */
const own = (mounts: readonly { type: string; path: string }[]): string[] =>
  mounts.filter(({ path }) => path.startsWith(top)).map(({ type, path }) => `${type} ${path.slice(top.length + 1)}`);

describe("what a box does not show", () => {
  const home = folder("home", {
    ".cargo/bin/cargo": "",
    ".nvm/x": "",
    "tools/bin/x": "",
    ".ssh/id": "",
    ".netrc": "",
    "p/a": "",
  });
  const outriderHome = folder("outrider");
  const searchPath = `${home}:${join(home, "tools/bin")}:${join(home, ".cargo/bin")}:/usr/bin`;

  it("is the user's home, without the programs in it, and our own folder", () => {
    const writable = [join(home, "p")];
    assert.deepEqual(own(hiddenMounts({ home, outriderHome, writable, searchPath })), [
      "hide home",
      "hide outrider",
      "read-only home/.nvm",
      "read-only home/.cargo/bin",
      "read-only home/tools/bin",
    ]);
  });

  it("is nothing of a home that may be written, but the secrets in it", () => {
    const places = { home, outriderHome, writable: [home], searchPath };
    assert.deepEqual(own(hiddenMounts(places)), ["hide outrider"]);
    assert.deepEqual(own(openHomes(places).map((path) => ({ type: "open", path }))), ["open home"]);
    assert.deepEqual(own(openHomes({ home, writable: [join(home, "p")] }).map((path) => ({ type: "open", path }))), []);
    assert.deepEqual(own(secretMounts(home)), ["hide home/.ssh", "mask home/.netrc"]);
  });

  it("is also a folder that can be entered, but not listed", { skip: process.getuid?.() === 0 && "root may list all" }, () => {
    const closed = folder("closed");
    chmodSync(closed, 0o300);
    assert.deepEqual(own(hiddenMounts({ home: closed, outriderHome: undefined, writable: [], searchPath: "" })), ["hide closed"]);
    chmodSync(closed, 0o600);
    assert.deepEqual(own(hiddenMounts({ home: closed, outriderHome: undefined, writable: [], searchPath: "" })), []);
    chmodSync(closed, 0o700);
  });

  it("is never the system, whatever is called a home", () => {
    for (const wrong of ["/", "/usr", "/usr/local", join(top, "missing")]) {
      const mounts = hiddenMounts({ home: wrong, outriderHome: undefined, writable: [], searchPath: "" });
      assert.ok(
        mounts.every(({ path }) => path !== wrong && !path.startsWith("/usr")),
        wrong,
      );
    }
  });
});

describe("what stays as it is where commands may write", () => {
  const protect = (path: string, contested: string[] = []) => {
    const { mounts, watched } = protectPaths({ writable: [path], homes: [], contested: new Set(contested) });
    const cut = (full: string): string => full.slice(path.length + 1);
    return {
      mounts: mounts.map((mount) => `${mount.type} ${cut(mount.path)}`),
      watched: watched.map((one) => `${one.type} ${cut(one.path)}`),
    };
  };

  it("is what there is of start-up files and agents' folders; what is missing is watched", () => {
    const project = folder("project", {
      ".bashrc": "",
      ".claude/settings.json": "",
      ".claude/plans/x": "",
      ".codex/config.toml": "",
      ".codex/x": "",
    });
    const { mounts, watched } = protect(project);
    assert.deepEqual(mounts, [
      "read-only .bashrc",
      "read-only .claude",
      "writable .claude/plans",
      "writable .codex",
      "read-only .codex/config.toml",
    ]);
    for (const one of ["missing .profile", "names .outrider", "names .codex", "repository .git"])
      assert.ok(watched.includes(one), one);
    assert.ok(!watched.includes("missing .bashrc") && !watched.includes("names .claude"));
  });

  it("is a link with what it leads to, where that may be written too", () => {
    const project = folder("linked", { "real-rc": "" });
    symlinkSync("real-rc", join(project, ".bashrc"));
    symlinkSync("/etc/hostname", join(project, ".profile"));
    symlinkSync(".", join(project, ".zshrc"));
    const { mounts, watched } = protect(project);
    assert.deepEqual(mounts, ["read-only real-rc"]);
    assert.deepEqual(
      watched.filter((one) => one.startsWith("link")),
      ["link .bashrc", "link .profile", "link .zshrc"],
    );
  });

  it("is what a link leads to in any of the folders that may be written", () => {
    const [one, other] = [folder("first"), folder("second", { rc: "" })];
    symlinkSync(join(other, "rc"), join(one, ".bashrc"));
    const { mounts } = protectPaths({ writable: [one, other], homes: [], contested: new Set() });
    assert.deepEqual(own(mounts), ["read-only second/rc"]);
  });

  it("is only watched where another command is just making it", () => {
    const project = folder("contested", { ".bashrc": "", ".claude/settings.json": "", ".codex/config.toml": "" });
    const { mounts, watched } = protect(
      project,
      [".bashrc", ".claude", ".codex"].map((name) => join(project, name)),
    );
    assert.deepEqual(mounts, []);
    for (const one of ["missing .bashrc", "names .claude", "names .codex"]) assert.ok(watched.includes(one), one);
  });

  it("is what decides in a git directory, which can be neither moved nor replaced", () => {
    const project = folder("repo", {
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/config": "",
      ".git/hooks/x": "",
      ".git/objects/a": "",
      ".git/refs/a": "",
    });
    const { mounts, watched } = protect(project);
    assert.ok(
      mounts.includes("writable .git") && mounts.includes("read-only .git/config") && mounts.includes("read-only .git/hooks"),
    );
    assert.ok(!watched.includes("repository .git"));
  });
});

describe("what is put away", () => {
  it("goes under a name that is free, also out of closed folders", async () => {
    const place = folder("away/from", { "a/x": "1", "b/x": "2" });
    const aside = join(top, "aside");
    await putAway(join(place, "a/x"), aside);
    mkdirSync(join(aside, "2-x"));
    await putAway(join(place, "b/x"), aside);
    const { readdirSync, readFileSync, statSync } = await import("node:fs");
    assert.deepEqual(readdirSync(aside), ["1-x", "2-x", "3-x"]);
    assert.deepEqual([readFileSync(join(aside, "1-x"), "utf8"), readFileSync(join(aside, "3-x"), "utf8")], ["1", "2"]);
    assert.equal(statSync(aside).mode & 0o777, 0o700);
  });
});
