import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { show, wordsOf } from "../../../../test/support/shell-lines.ts";
import { fromFolders, readGit, splitGit } from "./git-commands.ts";
import { parseCommand } from "./parse-command.ts";

describe("the words of git", () => {
  const cases: [line: string, expected: string][] = [
    ["status -s", "status | | | -s"],
    ["-C a -C b --no-pager log x", "log | --no-pager | a b | x"],
    ["-c x=y status", "status | -c | |"],
    ["--git-dir x log", "log | --git-dir | |"],
    ["--git-dir=x log", "log | --git-dir=x | |"],
    ["-C", " | | |"],
    ["--version", " | --version | |"],
    ["", " | | |"],
    ["$x log", "?"],
    ["-C a $x", "?"],
  ];
  for (const [line, expected] of cases)
    it(`are split in git ${line}`, () => {
      const call = splitGit(wordsOf(`git ${line}`));
      const found = call && [call.subcommand, ...[call.globals, call.folders, call.rest].map((words) => ` ${show(words)}`)];
      assert.equal(
        found
          ?.join(" |")
          .replace(/ +(?=\||$)/g, " ")
          .trimEnd() ?? "?",
        expected.trimEnd(),
      );
    });

  it("may be numbers of commits, however many, that another git prints", () => {
    const reads = (line: string): string => {
      const looking = readGit(parseCommand(line).programs.at(-1)?.words.slice(1) ?? []);
      return looking ? show(looking.reads) : "-";
    };
    const rows: [line: string, expected: string][] = [
      ["show $(git rev-parse HEAD~1)", "."],
      ['show "$(git rev-parse HEAD~1)"', "."],
      ["diff --stat $(git merge-base HEAD origin/main) -- a", ". a"],
      ["log $(git log -1 --format=%H)", "."],
      ["show $(git rev-parse --short --verify -q HEAD @)", "."],
      ["-C x show $(git rev-parse HEAD)", "x"],
      ["show x$(git rev-parse HEAD)", "-"],
      ['show "$(git rev-parse HEAD)', "-"],
      ["show $(git rev-parse --all)", "-"],
      ["show $(git rev-parse -x)", "-"],
      ["show $(git rev-parse HEAD:x)", "-"],
      ["show $(git merge-base HEAD)", "-"],
      ["show $(git log -1)", "-"],
      ["blame $(git rev-parse a)", "-"],
      ["diff --no-index $(git rev-parse a) b", "-"],
      ["log --author $(git merge-base a b) --author --output=x", "-"],
      ["log --output=x $(git rev-parse HEAD)", "-"],
      ["show $(git rev-parse a) $(git rev-parse b)", "-"],
      ["symbolic-ref $(git rev-parse a)", "-"],
      ["symbolic-ref HEAD $(git rev-parse a)", "-"],
      ["$(git rev-parse log)", "-"],
    ];
    for (const [line, expected] of rows) assert.equal(reads(`git ${line}`), expected, line);
  });

  it("are seen from the folders that -C leads to", () => {
    const seen = (folders: string, word: string): string =>
      show([fromFolders(wordsOf(`git ${folders}`), wordsOf(`git ${word}`)[0] ?? assert.fail())]);
    const rows: [folders: string, word: string, expected: string][] = [
      ["", "x", "x"],
      ["a", "x", "a/x"],
      ["a b", "x", "a/b/x"],
      ["~/a", "x", "~:~/a/x"],
      ["a", "/x", "/x"],
      ["a", "x/", "a/x/"],
      ["a", "~/x", "~:~/x"],
      ["a", "''", "''"],
      ["a /b", "x", "/b/x"],
      ["$a", "x", "…"],
      ["''", "x", "…"],
      ["a", "*.ts", "…"],
      ["a", "/*.ts", "/*.ts(*)"],
      ["a", "$x", "…+"],
      ["a", '"$x"', "…"],
      ["a", '"/x$y"', "…"],
    ];
    for (const [folders, word, expected] of rows) assert.equal(seen(folders, word), expected, `${folders} | ${word}`);
  });
});

/** `-`: more than looking. Otherwise what it reads, and from where. */
function look(line: string): string {
  const looking = readGit(wordsOf(`git ${line}`));
  if (!looking) return "-";
  assert.deepEqual(looking.writes, []);
  const marks = [looking.follows && "follows", looking.network && "network"].filter(Boolean);
  return [show(looking.reads), `in ${show(looking.repository ? [looking.repository] : [])}`, ...marks].join(", ");
}

describe("git that only looks", () => {
  const cases: [line: string, expected: string][] = [
    ["status", "., in ."],
    ["--no-pager -P --no-optional-locks --literal-pathspecs status", "., in ."],
    ["-p status", "-"],
    ["-c x=y status", "-"],
    ["--git-dir=x status", "-"],
    ["-C src diff a", "src src/a, in src"],
    ["-C a -C b status", "-"],
    ["--version", "., in ."],
    ["--version --no-pager", "., in ."],
    ["--no-pager", "-"],
    ["", "-"],
    ["push", "-"],
    ["toString", "-"],
    ["log --oneline -5 a -- b", ". a b, in ."],
    ["log --onel", "-"],
    ["log --output=x", "-"],
    ["diff --stat=$x", "-"],
    ['diff --stat="$x"', "., in ."],
    ["diff --no-index a b", ". a b, in ., follows"],
    ["diff a b", ". a b, in ."],
    ["log --no-index", "-"],
    ["check-ignore --no-index a", ". a, in ."],
    ["blame a", ". a, in ., follows"],
    ["annotate a", ". a, in ., follows"],
    ["symbolic-ref HEAD", "., in ."],
    ["symbolic-ref HEAD refs/x", "-"],
    ["symbolic-ref", "-"],
    ["symbolic-ref $x", "-"],
    ["symbolic-ref -d HEAD", "-"],
    ["ls-remote origin", "., in ., network"],
    ["ls-remote", "., in ., network"],
    ["ls-remote $x", "-"],
    ["ls-remote origin $x", "-"],
    ['ls-remote "x$y"', "-"],
    ['remote get-url "x$y"', "-"],
    ['reflog "show$y"', "-"],
    ["count-objects -v", "., in ."],
    ["count-objects x", "-"],
    ["version", "., in ."],
    ["reflog", "., in ."],
    ["reflog show", "., in ."],
    ["reflog show main", "., in ."],
    ["reflog show $x", "-"],
    ["reflog $x", "-"],
    ["reflog expire", "-"],
    ["remote", "., in ."],
    ["remote -v", "., in ."],
    ["remote get-url origin", "., in ."],
    ["remote get-url $x", "-"],
    ["remote show", "., in ."],
    ["remote show origin", "-"],
    ["remote add x", "-"],
    ["remote $x", "-"],
    ["remote user.name", "-"],
    ["config -l", "., in ."],
    ["config --get x", "., in ."],
    ["config --get-all x", "., in ."],
    ["config --get-regexp x", "., in ."],
    ["config --list", "., in ."],
    ["config --global", "-"],
    ["config", "-"],
    ["config list", "., in ."],
    ["config list x", "-"],
    ["config get user.name", "., in ."],
    ["config get x", "-"],
    ["config get user.name x", "-"],
    ["config get", "-"],
    ["config get $x", "-"],
    ["config user.name", "., in ."],
    ["config branch.a.b.merge", "., in ."],
    ["config user.name x", "-"],
    ["config x", "-"],
    ["config $x", "-"],
    ["stash list", "., in ."],
    ["stash show -p", "., in ."],
    ["stash", "-"],
    ["stash pop", "-"],
    ["stash -- list", "-"],
    ["stash $x", "-"],
    ["worktree list", "., in ."],
    ["worktree", "-"],
    ["worktree add x", "-"],
    ["submodule", "., in ."],
    ["submodule status", "., in ."],
    ["submodule update", "-"],
    ["branch", "., in ."],
    ["branch -a", "., in ."],
    ["branch x", "-"],
    ["branch --list x", ". x, in ."],
    ["branch -l x", ". x, in ."],
    ["branch --contains x", ". x, in ."],
    ["branch --no-contains x", ". x, in ."],
    ["branch --merged x", ". x, in ."],
    ["branch --no-merged x", ". x, in ."],
    ["branch -D x", "-"],
    ["tag", "., in ."],
    ["tag -l 'v*'", ". v*, in ."],
    ["tag x", "-"],
  ];
  for (const [line, expected] of cases)
    it(`is told from other git: ${line || "alone"}`, () => assert.equal(look(line), expected));
});
