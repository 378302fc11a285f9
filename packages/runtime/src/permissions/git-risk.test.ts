import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf } from "../../../../test/support/shell-lines.ts";
import { gitRisk } from "./git-risk.ts";

/** `from`: how many words the rule spells out. */
const covered: [line: string, from: number][] = [
  ["git status", 1],
  ["git", 1],
  ["git --version", 1],
  ["git -C x status", 1],
  ["git -c a=b status", 2],
  ["git log --oneline", 1],
  ["git difftool", 2],
  ["git difftool x", 2],
  ["git diff --output=x", 3],
  ["git commit -m x", 1],
  ["git merge -s ort x", 1],
  ["git merge -s mine x", 3],
  ["git merge --strategy=ours x", 1],
  ["git log -s", 1],
  ["git commit -s", 1],
  ["git fetch origin", 1],
  ["git fetch ../x", 3],
  ["git fetch ext::x", 3],
  ["git push origin main", 1],
  ["git push origin a/b", 1],
  ["git pull https://x/y.git", 1],
  ["git pull git@x:y/z.git", 1],
  ["git add ../x", 1],
  ["git bisect start", 1],
  ["git bisect run x", 3],
  ["git bisect", 1],
  ["git stash pop", 1],
  ["git config user.name", 1],
  ["git config user.name x", 3],
  ["git config --get x", 2],
];

const risky: [line: string, from: number, why: RegExp][] = [
  ["git $x", 1, /cannot be told/],
  ["git -c a=b status", 1, /^git -c can make/],
  ["git --git-dir=x status", 1, /^git --git-dir can make/],
  ["git -p log", 1, /^git -p can make/],
  ["git difftool", 1, /^git difftool runs programs, or is not known/],
  ["git toString", 1, /not known/],
  ["git -C x difftool", 1, /not known/],
  ["git -C x difftool", 3, /not known/],
  ["git diff --output=x", 2, /^git diff --output can run or write/],
  ["git diff --output=x", 1, /^git diff --output can run or write/],
  ["git diff --ext-diff", 1, /^git diff --ext-diff can run or write/],
  ["git add --pathspec-from-file=x", 1, /pathspec-from-file can run or write/],
  ["git hash-object -w --stdin-paths", 1, /stdin-paths can run or write/],
  ["git apply --directory=x", 1, /directory can run or write/],
  ["git merge -s mine x", 1, /^git merge -s can run another program/],
  ["git merge -s mine x", 2, /^git merge -s can run another program/],
  ['git merge -s "$x" y', 1, /^git merge -s can run another program/],
  ["git pull -s mine", 1, /-s can run another program/],
  ["git rebase -s mine", 1, /-s can run another program/],
  ["git cherry-pick --strategy=mine x", 1, /--strategy can run another program/],
  ["git log $x", 1, /not written out/],
  ["git fetch ext::x", 1, /^ext::x is a transport/],
  ["git fetch ext::x", 2, /^ext::x is a transport/],
  ["git log a b::c", 3, /^b::c is a transport/],
  ["git bisect run x", 1, /^git bisect run runs commands/],
  ["git bisect run x", 2, /^git bisect run runs commands/],
  ['git bisect "start$x"', 1, /^git bisect start runs commands/],
  ["git submodule foreach x", 1, /foreach runs commands/],
  ["git fetch ../x", 1, /^git would use the repository \.\.\/x/],
  ["git push ./x", 2, /would use the repository/],
  ["git pull a/b", 1, /would use the repository/],
  ["git ls-remote file:x", 1, /would use the repository/],
  ["git fetch ~/x", 1, /would use the repository/],
  ['git fetch "x$y"', 1, /would use the repository/],
  ["git config user.name x", 1, /config can make git run programs/],
  ["git config user.name x", 2, /config can make git run programs/],
];

describe("a rule for git", () => {
  for (const [line, from] of covered)
    it(`of ${from} words covers ${line}`, () => assert.equal(gitRisk(programOf(line).words, from), undefined));
  for (const [line, from, why] of risky)
    it(`of ${from} words does not cover ${line}`, () => assert.match(gitRisk(programOf(line).words, from) ?? "", why));
});
