import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf, show } from "../../../../test/support/shell-lines.ts";
import { shownBy, tellsFacts } from "./shown-files.ts";

function shown(line: string): string {
  const found = shownBy(programOf(line));
  return found?.type === "below" && found.reads ? `below ${show(found.reads)}` : (found?.type ?? "-");
}

describe("what a program shows of files", () => {
  const lines: Readonly<Record<string, string>> = {
    nothing: "ls -la a; du a; printf '%s' x; env; [ -f a ]; rm a",
    named: `cat a; sort -u a; sed -n 1p a; grep x a; grep x -- a; zgrep x a; cp a b; install a b; grep "x$y" a; grep -l x a; cp "-x$y" a`,
    below: `grep -r x; grep -nR x a; grep -d recurse x; grep --recursive x; grep --dereference-recursive x; grep --directories=recurse x; grep $x;
      grep "$x"; grep "$x" a; grep "$x/a" b; diff a b; rg x; cp -r a b; cp -fR a b; cp -a a b; cp --recursive a b; cp --archive a b; mv a b; tar cf x.tar a; zip a.zip b; gzip a; tar cf x.tar *`,
    unknown: `tar cf x.tar -C a b; tar cf x.tar -T list; zip a.zip -@; cpio -o; tar cf x.tar --files-from=x; tar cf x --directory=b; tar cf x.tar "$y";
      zip a.zip @list; tar cf - -; rsync --files-from=x a b; rsync --include=x a b`,
    "-": "node x; make; unheard-of a",
  };
  for (const [expected, text] of Object.entries(lines))
    for (const line of text.split(";").map((one) => one.trim()))
      it(`is ${expected}: ${line}`, () => assert.equal(shown(line), expected));

  it("is a fact, or words", () => {
    assert.deepEqual([tellsFacts("wc"), tellsFacts("cat")], [true, false]);
  });
});

describe("what git shows of files", () => {
  const lines: Readonly<Record<string, string>> = {
    nothing: `git status; git -C x status; git ls-files; git branch -a; git rev-list HEAD; git status -- -v; git for-each-ref --format=raw; git branch raw; git shortlog --since "$x"; git tag -n "v";
      git add a; git commit -m x; git commit -m "$x"; git commit --message "$x"; git checkout -- -p; git push; git cat-file -t x; git cat-file -s x; git cat-file -e x; git stash list;
      git stash list --oneline; git stash pop; git stash push; git log; git log --oneline -5; git log -n 3; git log --format=%s a..b; git reflog; git show --stat; git diff --name-only; git diff -s;
      git diff --quiet --exit-code; git log --stat -- .env; git -C x diff --stat; git log --grep x -3; git log x -- -p; git commit -m -- x`,
    unknown: `git $x; git status -v; git status -sv; git status --verbose; git ls-files $x; git ls-files "$x"; git for-each-ref '--format=%(raw)'; git for-each-ref --format '%(*raw)'; git branch --format "$x"; git add -p; git commit -v; git commit $x;
      git add --patch; git commit -am "$x" --edit; git rebase --show-current-patch; git cat-file -p x; git cat-file blob x; git cat-file; git cat-file -t -p x; git cat-file -t $x; git stash; git stash show; git stash list -p; git stash $x; git stash "pop$x";
      git log -p; git log --patch; git log $x; git log "$x"; git reflog -p; git show; git show HEAD; git diff; git diff --stat -p; git diff --cached; git grep x; git blame; git unheard-of; git toString; git unheard-of --stat; git toString --stat; git diff -- a 'b*'; git archive x;
      git diff "$x" --stat; git log -p -- 'a*'; git log -p -- ':(top)a'; git log -p --; git -C x diff -- a; git diff --output=x -- a; git show 1234567 -- a; git show main -- a; git diff abcdef12 -- a; git log -p $x -- a; git diff "x$y" -- a;
      git stash -p -- a; git diff-tree HEAD -- a; git grep -f x y -- a; git grep x abcd1234 -- a; git log -p -- "a$x"; git commit -C "$x$y" $z; git log --format "$x"; git show "--stat$x"; git commit -S "$x" --patch`,
    "below a": `git diff -- a; git diff HEAD~1 -- a; git log -p HEAD~2 -- a; git show HEAD -- a; git show HEAD~2^ -- a; git blame -- a; git grep x -- a; git grep -n x HEAD -- a; git grep deadbeef -- a; git log -p --since="2 days" -- a; git diff -U5 HEAD^ -- a`,
    "below a b": "git diff -- a b; git grep -in -- a b",
  };
  for (const [expected, text] of Object.entries(lines))
    for (const line of text.split(";").map((one) => one.trim()))
      it(`is ${expected}: ${line}`, () => assert.equal(shown(line), expected));

  it("is told with the subcommand", () => {
    const why = (line: string): string => JSON.stringify(shownBy(programOf(line)));
    assert.match(why("git diff"), /git diff shows/);
    assert.match(why("git stash list -p"), /git stash list shows/);
    assert.match(why("tar cf x -T y"), /what tar reads is not written out/);
  });
});
