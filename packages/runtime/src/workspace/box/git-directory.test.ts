import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { configuredPaths, plainConfiguration, repositoryOfWorktree } from "./git-directory.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-git-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"] ?? "", HOME: folder } });

describe("plainConfiguration", () => {
  it("leaves what git init, git clone and a first configuration write", () => {
    const text =
      '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = Ada\n';
    assert.equal(plainConfiguration(text), text);
  });

  it("drops everything that can name a program or another configuration", () => {
    const evil = [
      "[core]\n\tfsmonitor = ./evil\n\thooksPath = evil\n\tsshCommand = evil\n\tpager = evil\n\teditor = evil",
      "[core] fsmonitor = evil",
      '[filter "x"]\n\tclean = evil',
      "[alias]\n\tst = !evil",
      "[include]\n\tpath = ../evil",
      '[includeIf "gitdir:/"]\n\tpath = ../evil',
      "[credential]\n\thelper = !evil",
      '[remote "o"]\n\tuploadpack = evil',
      "[core]\n\tbare = \\\nfalse\n\tfsmonitor = evil",
      '[user]\n\tname = "x\\\n[core]\n\tfsmonitor = evil',
    ];
    for (const text of evil) assert.doesNotMatch(plainConfiguration(text), /evil/, text);
  });

  it("leaves nothing that git itself understands as more than it allows", () => {
    const piece = fc.constantFrom(
      "[core]",
      "[CORE]",
      "[core ]",
      "[user]",
      '[remote "a"]',
      '[remote "a\\"b"]',
      "[alias]",
      "[core.x]",
      "\n",
      "\r\n",
      "\t",
      " ",
      "\\\n",
      "=",
      " = ",
      "fsmonitor",
      "sshCommand",
      "bare",
      "name",
      "url",
      "uploadpack",
      "true",
      "evil",
      '"',
      ";",
      "#",
      "!",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        writeFileSync(join(folder, "config"), plainConfiguration(pieces.join("")));
        let listed = "";
        try {
          listed = git("config", "--file", "config", "--list");
        } catch {
          return; // a configuration git refuses runs nothing
        }
        assert.doesNotMatch(listed, /^(?:core\.(?:fsmonitor|sshcommand)|alias\.|remote\..*uploadpack)/im);
      }),
      { numRuns: 150 },
    );
  });
});

describe("configuredPaths", () => {
  it("finds where hooks and more configuration come from", () => {
    mkdirSync(join(folder, "g"), { recursive: true });
    writeFileSync(
      join(folder, "g/config"),
      '[core]\n\thooksPath = .husky/_\n[include]\n\tpath = "../.gitextra"\n[core] bare = false\n[user]\n\tpath = x\n',
    );
    assert.deepEqual(configuredPaths(join(folder, "g"), "/p"), ["/p/.husky/_", join(folder, ".gitextra")]);
  });
});

describe("repositoryOfWorktree", () => {
  it("finds the repository of a linked worktree, and believes nobody else", () => {
    git("init", "-q", "repo");
    git("-C", "repo", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
    git("-C", "repo", "worktree", "add", "-q", "../tree");
    mkdirSync(join(folder, "fake"));
    writeFileSync(join(folder, "fake/.git"), `gitdir: ${folder}/repo/.git/worktrees/tree\n`);
    mkdirSync(join(folder, "wrong"));
    writeFileSync(join(folder, "wrong/.git"), `gitdir: ${folder}/repo/.git\n`);
    const found = ["tree", "fake", "wrong", "repo"].map((name) => repositoryOfWorktree(join(folder, name)));
    assert.deepEqual(found, [join(folder, "repo/.git"), undefined, undefined, undefined]);
  });
});
