import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  fixedPart,
  foldPath,
  guardOf,
  isBeside,
  isHarmlessDevice,
  isReservedName,
  isSecretOfProcess,
  overlaps,
  toAbsolutePattern,
  workFolders,
} from "./paths.ts";
import { isInside } from "../util/is-inside.ts";

const base = { root: "/repo/proj", home: "/home/me" };

describe("a path", () => {
  it("is inside a folder when it is the folder or below it", () => {
    const cases: [string, string, boolean][] = [
      ["/a", "/a", true],
      ["/a", "/a/b", true],
      ["/a/", "/a/b", true],
      ["/", "/b", true],
      ["/a", "/ab", false],
      ["/a/b", "/a", false],
      ["/a", "/b/a", false],
    ];
    for (const [folder, path, expected] of cases) assert.equal(isInside(folder, path), expected, `${folder} ${path}`);
  });

  it("is beside the project unless it holds everything or the home directory", () => {
    assert.deepEqual(
      ["/", "/home", "/home/me", "/home/me/x", "/data"].map((folder) => isBeside(folder, base)),
      [false, false, false, true, true],
    );
    assert.equal(isBeside("/data", { root: "/repo", home: undefined }), true);
    assert.equal(isBeside("/", { root: "/repo", home: undefined }), false);
    assert.deepEqual(workFolders({ ...base, directories: ["/data", "/home"] }), ["/repo/proj", "/data"]);
    assert.deepEqual(workFolders(base), ["/repo/proj"]);
  });

  it("is compared without what some file system leaves out", () => {
    const cases: [string, string][] = [
      ["/a/.GIT/Config", "/a/.git/config"],
      ["/a/.git. ./x", "/a/.git/x"],
      ["/a/.git::$INDEX/x", "/a/.git/x"],
      ["/a/git~1/x", "/a/.git/x"],
      ["/a/mygit~1/x", "/a/mygit~1/x"],
      ["/a/.g\u200dit", "/a/.git"],
      ["/a\\.git", "/a/.git"],
      ["/a/../b/./c", "/a/../b/./c"],
      ["/a/...", "/a/"],
      ["/cafe\u0301", "/caf\u00e9"],
    ];
    for (const [path, folded] of cases) assert.equal(foldPath(path), folded, path);
  });

  it("is a device that keeps nothing and tells nothing, or is not", () => {
    assert.deepEqual(["/dev/null", "/dev/fd/12", "/dev/tty", "/dev/sda", "/dev/fd/x", "/x/dev/null"].map(isHarmlessDevice), [
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it("holds secrets of a process, also where a pattern may stand for one", () => {
    const secret = ["/proc/1/environ", "/proc/self/mem", "/proc/1/task/2/auxv", "/proc/1/*", "/proc/*/env*", "/PROC/1/environ"];
    const open = ["/proc/environ", "/proc/1/status", "/x/proc/1/environ", "/proc/1/m", "environ", "/a/proc"];
    assert.deepEqual(
      secret.filter((path) => !isSecretOfProcess(path)),
      [],
    );
    assert.deepEqual(open.filter(isSecretOfProcess), []);
  });

  it("is the name of a device on Windows", () => {
    const windows = { ...base, platform: "win32" };
    const names = ["/a/CON", "/a/nul.txt", "/a/com1", "/a/lpt9.x", "/a/conin$", "/a/console", "/a/com", "/con/a"];
    assert.deepEqual(
      names.map((path) => isReservedName(path, windows)),
      [true, true, true, true, true, false, false, false],
    );
    assert.equal(isReservedName("/a/con", base), false);
  });
});

describe("places that only a rule written for them opens", () => {
  const editing = (path: string, directories: string[] = []): string => {
    const { effect, reason } = guardOf(path, "edit", { ...base, directories }) ?? { effect: "", reason: "" };
    return `${effect} ${reason}`.trim();
  };
  const reading = (path: string): string => guardOf(path, "look", base)?.effect ?? "";

  it("are those that decide what is run or allowed, when it is about editing", () => {
    const cases: [string, string][] = [
      ["/repo/proj/a.ts", ""],
      ["/repo/proj", "ask it holds the whole project"],
      ["/repo", "ask it holds the whole project"],
      ["/repo/proj/x/.git/config", "deny git's own files decide what git runs"],
      ["/srv/.git/config", "ask git's own files decide what git runs"],
      ["/repo/proj/.claude", "deny settings, hooks and skills decide what agents may do"],
      ["/repo/proj/.outrider/x", "deny settings, hooks and skills decide what agents may do"],
      ["/repo/proj/.outrider/worktrees/a", ""],
      ["/repo/proj/.outrider/memory/MEMORY.md", "deny what is in it is told to agents, and people decide that"],
      ["/repo/proj/.outrider/memory", "deny what is in it is told to agents, and people decide that"],
      ["/repo/proj/.outrider/worktrees/a/.outrider/memory/x", "deny what is in it is told to agents, and people decide that"],
      ["/repo/proj/.claude/memory/x", ""],
      ["/repo/proj/.claude/plans", ""],
      ["/repo/proj/.cursor/rules/x", "deny settings and hooks decide what agents may do"],
      ["/repo/proj/.cursor/.../rules", "deny settings and hooks decide what agents may do"],
      ["/repo/proj/.cursor/notes", ""],
      ["/repo/proj/.cursor", ""],
      ["/repo/proj/.husky/pre-commit", "ask files in .husky are run by other tools"],
      ["/repo/proj/.ssh/config", "ask .ssh holds credentials"],
      ["/srv/.aws/x", "ask .aws holds credentials"],
      ["/repo/proj/.cargo/config.toml", "ask it configures other programs"],
      ["/repo/proj/.cargo/registry", ""],
      ["/repo/proj/.config/other", ""],
      ["/home/me/.config/git/config", "ask it configures other programs"],
      ["/repo/proj/.bash*", "ask it may mean .bashrc"],
      ["/repo/proj/.gi?/x", "ask it may mean .git"],
      ["/repo/proj/.bash*/x", ""],
      ["/repo/proj/.ss*/x", "ask it may mean .ssh"],
      ["/repo/proj/*", ""],
      ["/repo/proj/.envrc", "ask it is read when shells or tools start"],
      ["/repo/proj/.envrc/x", ""],
      ["/etc/x", "ask it belongs to the system"],
      ["/usr", "ask it belongs to the system"],
      ["/etcetera/x", ""],
      ["/srv/etc/x", ""],
    ];
    for (const [path, expected] of cases) assert.equal(editing(path), expected, path);
    assert.equal(editing("/usr/src/a.ts", ["/usr/src"]), "");
    assert.equal(editing("/usr/src", ["/usr/src"]), "ask it holds the whole project");
    assert.equal(editing("/usr/src/.git/x", ["/usr/src"]), "deny git's own files decide what git runs");
    assert.equal(editing("/data/.git/lib/a", ["/data/.git/lib"]), "deny git's own files decide what git runs");
    assert.equal(
      guardOf("/a/.git/proj/x", "edit", { root: "/a/.git/proj", home: undefined }),
      undefined,
      "a project in such a place",
    );
  });

  it("are credentials and devices, when it is about reading outside", () => {
    const cases: [string, string][] = [
      ["/dev/null", ""],
      ["/dev/sda", "deny"],
      ["/repo/proj/.ssh/id_rsa", ""],
      ["/home/me/.ssh/config", "ask"],
      ["/home/me/.config/gh/hosts.yml", "ask"],
      ["/home/me/.config/git/config", ""],
      ["/home/me/gh", ""],
      ["/home/me/.config/ghost", ""],
      ["/home/me/.config", ""],
      ["/srv/id_ed25519", "ask"],
      ["/srv/id_ed25519/x", ""],
      ["/srv/.netrc", "ask"],
      ["/etc/shadow", "ask"],
      ["/etc/hosts", ""],
      ["/proc/12/maps", "ask"],
      ["/proc/self/fd/3", "ask"],
      ["/proc/*/cmdline", "ask"],
      ["/proc/12/status", ""],
      ["/proc/12/net/tcp", ""],
      ["/proc/12", ""],
      ["/proc/sys/kernel/x", ""],
      ["/srv/proc/12/maps", ""],
    ];
    for (const [path, expected] of cases) assert.equal(reading(path), expected, path);
  });
});

describe("a pattern of a rule", () => {
  it("starts at the root, at home or at the project", () => {
    const patterns = ["//etc/x", "~/x", "~", "/src/*", "./src", "src/", "~x"];
    assert.deepEqual(
      patterns.map((pattern) => toAbsolutePattern(pattern, base)),
      ["/etc/x", "/home/me/x", "/home/me", "/repo/proj/src/*", "/repo/proj/src", "/repo/proj/src/", "/repo/proj/~x"],
    );
    assert.equal(toAbsolutePattern("~/x", { root: "/r", home: undefined }), "/nonexistent/x");
  });

  it("is fixed up to the folder of its first wildcard", () => {
    const patterns = ["/a/b", "/a/b/*.ts", "/a/b*/c", "/*", "/a/?", "/a/[b]/c"];
    assert.deepEqual(patterns.map(fixedPart), ["/a/b", "/a/b", "/a", "/", "/a", "/a"]);
  });

  it("and one of the shell may stand for the same name", () => {
    const same: [string, string, boolean?][] = [
      ["a", "a"],
      ["a*", "abc"],
      ["*", "abc"],
      ["a?c", "abc"],
      ["abc", "a*"],
      ["abc", "*"],
      ["abc", "a?c"],
      ["a*", "*c"],
      ["*b*", "abc"],
      ["[x]y", "zz"],
      [".e*", ".env"],
      ["*", ".env", true],
      ["?env", ".env", true],
      ["a**b", "ab"],
      ["", "*"],
      ["ab", "a**b"],
    ];
    const other: [string, string, boolean?][] = [
      ["a", "b"],
      ["a", "ab"],
      ["ab", "a"],
      ["a?", "a"],
      ["*c", "ab"],
      ["*", ".env"],
      ["?env", ".env"],
      ["[.]env", ".env"],
      ["a*", "bc"],
      ["", "a"],
      ["abc", "a*d"],
    ];
    assert.deepEqual(
      same.filter(([shell, name, hidden]) => !overlaps(shell, name, hidden)),
      [],
    );
    assert.deepEqual(
      other.filter(([shell, name, hidden]) => overlaps(shell, name, hidden)),
      [],
    );
  });
});
