import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf, show } from "../../../../test/support/shell-lines.ts";
import { extractionRisk, filesNamedBy } from "./written-files.ts";

/** `reads > writes`; `?` for a program without a grammar. */
function files(line: string): string {
  const named = filesNamedBy(programOf(line));
  return named ? `${show(named.reads)} > ${show(named.writes)}`.trim() : "?";
}

describe("the files that a program names", () => {
  const cases: [line: string, expected: string][] = [
    ["unheard-of a", "?"],
    ["toString a", "?"],
    ["cat a b", "a b >"],
    ["git stash push a", "> a"],
    ["git stash push -- a", "> a"],
    ["git stash -- a", "> a"],
    ["git stash pop a", ">"],
    ["cat -", "- >"],
    ["sort -o out a", "a > out"],
    ["sort -o - a", "a >"],
    ["sort --output=~/x a", "a > ~:~/x"],
    ["xargs -a list cat", "list >"],
    ["touch a", "> a"],
    ["fd -C x y", "x >"],
    ["sed s/a/b/ x y", "x y >"],
    ["sed $s x", "…+ x >"],
    ["sed -e s/a/b/ x", "x >"],
    ["sed --expression=p x", "x >"],
    ["sed -f s x", "s x >"],
    ["sed --file=s x", "s x >"],
    ["sed -i s/a/b/ x y", "> x y"],
    ["sed -i.bak s/a/b/ x y", "> x y x.bak y.bak"],
    ["sed --in-place=.o s/a/b/ x", "> x x.o"],
    ["sed -i -f s x", "s > x"],
    ["yq .a x", "x >"],
    ["yq -i .a x", "> x"],
    ["tar cf a.tar x y", "x y > a.tar"],
    ["tar --create --file=a.tar x", "x > a.tar"],
    ["tar rf a.tar x", "x > a.tar"],
    ["tar cf a.tar x --remove-files", "x > a.tar x"],
    ["tar xf a.tar", "a.tar >"],
    ["tar xf a.tar x", "a.tar >"],
    ["tar xf a.tar -C d", "a.tar > d"],
    ["tar tf a.tar --index-file=i", "a.tar > i"],
    ["tar xf - -C d", "> d"],
    ["patch -d x", "> x"],
    ["zip a.zip x y", "x/**{links} y/**{links} > a.zip"],
    ["zip -y a.zip x", "x > a.zip"],
    ["zip --symlinks a.zip x", "x > a.zip"],
    ["zip a.zip x*", "x*(*) > a.zip"],
    ["unzip a.zip x -d d", "a.zip > d"],
    ["chmod 1 a b", "> a b"],
    ["chmod $x a", "> …+ a"],
    ["chmod --reference=r a", "r > a"],
    ["chown u a", "> a"],
    ["sqlite3 a.db x", "> a.db"],
    ["sqlite3 :memory: x", ">"],
    ["sqlite3 'file:../x?mode=rwc#y' x", "> ../x"],
    ["sqlite3 file:%2e%2E/x x", "> ../x"],
    ["sqlite3 file:///a/b%20c x", "> /a/b c"],
    ["sqlite3 file://localhost//a x", "> /a"],
    ["sqlite3 file:x?mode=ro x", "> x"],
    ["sqlite3 file::memory:?cache=shared x", ">"],
    ["sqlite3 file://host/a x", "> …"],
    ["sqlite3 file:%zz x", "> …"],
    ["sqlite3 file:a%00b x", "> …"],
    ["sqlite3 FILE:a x", "> …"],
    ["sqlite3 'file:?x' x", "> …"],
    ["sqlite3 file:x* x", "> …"],
    ["sqlite3 file:$x x", "> …"],
    ["git clone file:///a/%62.git", "/a/b.git > %62"],
    ["git clone file://host/a", "… > a"],
    ["uniq a", "a >"],
    ["uniq a b", "a > b"],
    ["uniq $x b", "…+ > …+ b"],
    ["dd if=a of=b", "a > b"],
    ["dd $x", "> …+"],
    ["dd x", ">"],
    ["tee a b", "> a b"],
    ["diff a b", "a{links} b{links} >"],
    ["grep x a b", "a b >"],
    ["grep -e x a b", "a b >"],
    ["grep -f x a b", "x a b >"],
    ["grep --regexp=x a", "a >"],
    ["grep --file=x a", "x a >"],
    ["base64 a", "a >"],
    ["cp a b", "a > b b/a"],
    ["cp a x/b/ c", "a x/b/ > c c/a c/b"],
    ["cp -t d a b", "a b > d d/a d/b"],
    ["cp --target-directory=d a", "a > d d/a"],
    ["cp --parents x/a d", "x/a > d d/a d/x/a"],
    ["cp -l a b", "a > b b/a a"],
    ["cp --link a b", "a > b b/a a"],
    ["cp $x d", "…+ > d d/…"],
    ["cp a", "a >"],
    ["mv a b", "a > b b/a a"],
    ["mv -R a b", "a > b b/a a"],
    ["ln a b", "a > b b/a a"],
    ["ln -s a b", "a > b b/a"],
    ["ln --symbolic a b", "a > b b/a"],
    ["install -d a b", "> a b"],
    ["install --directory a", "> a"],
    ["install a b", "a > b b/a"],
    ["rsync a b", "a > b b/a"],
    ["rsync -R x/a b", "x/a > b b/a b/x/a"],
    ["rsync --relative x/a b", "x/a > b b/a b/x/a"],
    ["rsync h:a b", "> b"],
    ["rsync a h:b", "a >"],
    ["scp a u@h:b", "a >"],
    ["curl -o f http://x", "> f"],
    ["curl -d @f http://x", "f >"],
    ["curl -d x http://x", ">"],
    ["curl -d x@y http://x", ">"],
    ["curl --data-binary @f http://x", "f >"],
    ["curl -H @f http://x", "f >"],
    ["curl -F a=@f http://x", "f >"],
    ["curl -F 'a=@f,g;type=x' http://x", "f g type=x >"],
    ["curl -F 'a=<f;headers=@h' http://x", "f h >"],
    ["curl -F 'a=@\"f\"' http://x", "f >"],
    ["curl -F a=b http://x", ">"],
    ["curl --form a=@f http://x", "f >"],
    ["curl --data-urlencode a@f http://x", "f >"],
    ["curl --data-urlencode a=@f http://x", ">"],
    ["curl --url-query @f http://x", "f >"],
    ["curl -b f http://x", "f >"],
    ["curl -b a=b http://x", ">"],
    ['curl -b "$x" http://x', ">"],
    ["curl --cookie f http://x", "f >"],
    ["curl -T f http://x", "f >"],
    ["curl -d @- http://x", ">"],
    ["curl -d @~/f http://x", "~:~/f >"],
  ];
  for (const [line, expected] of cases) it(`are told: ${line}`, () => assert.equal(files(line), expected));
});

describe("the files that git names", () => {
  const cases: [line: string, expected: string][] = [
    ["git status", ">"],
    ["git $x", ">"],
    ["git unheard-of x", ">"],
    ["git toString x", ">"],
    ["git -C a -C b add c", "a a/b a/b/c >"],
    ["git add a b", "a b >"],
    ["git add .", ">"],
    ["git add ./", ">"],
    ["git add a..b", ">"],
    ["git add :/", ">"],
    ["git add -- ../a", "../a >"],
    ["git checkout main a", "> main a"],
    ["git checkout a..b", ">"],
    ["git checkout a...b", ">"],
    ["git checkout ..", "> .."],
    ["git restore x/..y", "> x/..y"],
    ['git checkout "a$x"', ">"],
    ["git blame -S f a", "f >"],
    ["git blame -S - a", ">"],
    ["git log -O f a", "f >"],
    ["git worktree add a b", "> a b"],
    ["git worktree remove a", "> a"],
    ["git worktree list a", ">"],
    ["git worktree", ">"],
    ["git clone ../a", "../a > a"],
    ["git clone ../a b", "../a > b"],
    ["git clone https://h/a.git", "> a"],
    ["git clone h:x/a", "> a"],
    ["git clone u@h:a.git b", "> b"],
    ["git clone ../a/.git/", "../a/.git/ > a"],
    ["git clone a.bundle", "a.bundle > a"],
    ["git clone ~/a", "~:~/a > a"],
    ["git clone ..", ".. >"],
    ["git clone /", "/ >"],
    ["git clone", ">"],
    ["git clone --reference r ../a", "r ../a > a"],
    ["git -C d clone ../a", "d d/../a > d/a"],
  ];
  for (const [line, expected] of cases) it(`are told: ${line}`, () => assert.equal(files(line), expected));
});

describe("unpacking", () => {
  const known = `patch --dry-run; tar tf a; tar cf a b; tar xf a -C d; tar xf a --directory=d; tar xOf a; tar xf a --to-stdout; unzip -l a; unzip -p a; unzip a -d d;
    7z l a; cpio -o; cpio; ar t a; unrar l a; jar tf a; ls x; unzip -Z1 a; unheard-of -x; tar xf ./h:a -C d; tar --extract -f a -C d/e; toString -x`;
  const unknown = `patch; patch -p1 a; tar xf a; tar --extract -f a; tar --get -f a; tar xf a -C .; tar xf a -C ..; tar xf a -C ./; tar xf a -C $x; unzip a; unzip a -d .; unzip a -d ../; 7z x a; 7zr e a; 7z;
    cpio -i; cpio -p x; cpio $x; pax -r; ar x a; ar xv a; unrar x a; jar xf a; cpio --extract; cpio --pass-through x`;
  for (const line of known.split(";").map((one) => one.trim()))
    it(`is none, or goes where it is told: ${line}`, () => assert.equal(extractionRisk(programOf(line)), undefined));
  for (const line of unknown.split(";").map((one) => one.trim()))
    it(`writes what cannot be known: ${line}`, () =>
      assert.equal(extractionRisk(programOf(line)), `the files that ${programOf(line).name} writes cannot be known`));

  it("does not reach other machines", () => {
    for (const line of ["tar tf h:a", "tar xf u@h:a -C d", "tar --list --file=h:a"])
      assert.equal(extractionRisk(programOf(line)), "tar would reach another machine", line);
  });
});
