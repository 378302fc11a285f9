import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { programOf } from "../../../../test/support/shell-lines.ts";
import { riskOf } from "./risky-options.ts";

/** `from`: how many words the rule spells out. */
const covered: [from: number, lines: string][] = [
  [0, "ls; sort a"],
  [
    1,
    `sort -u a; sort a -- -o x; sort -k 1 a; wc $x; ls $x; npx sort -o x; cp -t a/b c; cp -b c d; mv --backup=simple c d; ls -S a/b; tar cf a b; make A=b; make -j4 all; find . -name x; test -f a; [ -n "$x" ];
     printf '%s' "$x"; awk '{print $1}' a; sed s/a/b/ x; curl -s http://x; export FOO=1; declare -x FOO=1; unset FOO; gcc -c a.c; gcc -Wall a.c; npm test; npm run x; unheard-of --x; head -n 5 a; rsync -a a b;
     ssh h ls -o; ssh -v h; ssh h; go --unheard-of build; git status; fd -C a; tar xf a -C b; node; python3; sort --version; sort --help; python3 -m; uv pip list; touch -r a b; tar --get -f a -C b;
     toString a; tar -t -f a; read FOO`,
  ],
  [
    2,
    `sort -o x; sort a -u; npx sort -u; npm exec x; awk 'BEGIN{system(1)}' a; node --check a; node a.js --eval x; node --eval=x y; python3 a.py -c x; uv run x; make -f x; cp -S a/b c d; deno x`,
  ],
  [
    3,
    `ls a sort -o x; find x -delete; python3 -u a.py -c x; npx sort -o x; python3 -m pytest -v; npm exec sort -u x; uv run pytest -v; tar cfh a b; yarn run tsc x; bash -x a.sh -c`,
  ],
  [4, "python3 -m pytest -c x; npm exec sort -o x; uv run sort -o x"],
];

const risky: [from: number, line: string, why: string][] = [
  [1, "sort -o x a", "sort -o can write other files"],
  [1, "sort a -o x", "sort -o can write other files"],
  [0, "sort a -o x", "sort -o can write other files"],
  [2, "sort a -o x", "sort -o can write other files"],
  [1, "sort --compress-program=x", "sort --compress-program can run something else"],
  [1, "sort --unheard-of", "sort --unheard-of can do more than is known"],
  [1, "sort $x", "sort: a word may turn out to be an option"],
  [1, "sort -k $x", "sort: the value of -k may be several words"],
  [1, "head -n $x a", "head: the value of -n may be several words"],
  [1, "xargs -a x cat", "xargs -a can read files that are not written out"],
  [1, "tar cfh a b", "tar -h can follow links out of the project"],
  [1, "cp -L a b", "cp -L can follow links out of the project"],
  [1, "rsync -L a b", "rsync -L can follow links out of the project"],
  [1, "grep -R x", "grep -R can follow links out of the project"],
  [1, "cp -S a/b c d", "cp -S can write other files"],
  [1, "cp --suffix=a/b c d", "cp --suffix can write other files"],
  [1, "split --additional-suffix=a/b x", "split --additional-suffix can write other files"],
  [1, "ssh h -o x", "ssh -o can be told to do something else"],
  [1, "ssh -v h -o x", "ssh -o can be told to do something else"],
  [1, "ssh h -v -o x", "ssh -o can be told to do something else"],
  [1, "ssh -o x h", "ssh -o can be told to do something else"],
  [1, "make -f x", "make -f can run something else"],
  [1, "make -C x", "make -C can work elsewhere"],
  [1, "tar -P -C x", "tar -P can work elsewhere"],
  [1, "pytest --rootdir x", "pytest --rootdir can work elsewhere"],
  [1, "hash -r", "hash -r can change something else"],
  [1, "test -v 'a[x]'", "test may evaluate a word"],
  [1, "[ $x -eq 1 ]", "[ may evaluate a word"],
  [1, "printf -v x y", "printf may evaluate a word"],
  [1, "awk 'BEGIN{system(1)}' a", "the program of awk may run, read or write something else"],
  [1, "gawk 'BEGIN{system(1)}' a", "the program of awk may run, read or write something else"],
  [1, "find x -delete", "find -delete changes or reads other files"],
  [2, "find x -delete", "find -delete changes or reads other files"],
  [1, "find -L x", "find -L changes or reads other files"],
  [1, "gcc -B x", "gcc -B can run or write something else"],
  [1, "gcc -Wl,x a.c", "gcc -Wl,x can run or write something else"],
  [1, "export A[1]=x", "export may evaluate a word"],
  [1, "declare 'A=(x'", "declare may evaluate a word"],
  [1, "export A=$x", "export may evaluate a word"],
  [1, "declare -i A", "declare may evaluate a word"],
  [1, "declare +n A", "declare may evaluate a word"],
  [1, "export PATH=x", "PATH may change what other programs do"],
  [1, "export FOO=1 PATH", "PATH may change what other programs do"],
  [1, "vim x", "vim writes and runs what it is told"],
  [1, "npm --config.x=y test", "npm --config.x=y can make it do something else"],
  [1, "npm exec x", "npm exec runs or configures what it is told"],
  [2, "npx sort -o x", "sort -o can write other files"],
  [3, "npm exec sort -o x", "sort -o can write other files"],
  [3, "uv run sort -o x", "sort -o can write other files"],
  [2, "python3 -m pytest -c x", "python3 -c can run other code"],
  [3, "python3 -m pytest -c x", "pytest -c can be told to do something else"],
  [3, "python3.12 -m pytest -c x", "pytest -c can be told to do something else"],
  [2, "node --check $x", "node can run other code"],
  [2, "node --check --require=x", "node --require can run other code"],
  [2, "node --check a -r", "node -r can run other code"],
  [2, "deno run --allow-all", "deno --allow-all can run other code"],
  [2, "bun x --preload=y", "bun --preload can run other code"],
  [1, "tar xf a", "the files that tar writes cannot be known"],
  [1, "git difftool", "git difftool runs programs, or is not known"],
];

describe("a rule with a wildcard", () => {
  for (const [from, lines] of covered)
    for (const line of lines.split(";").map((one) => one.trim()))
      it(`of ${from} words covers ${line}`, () => assert.equal(riskOf(programOf(line), from), undefined));
  for (const [from, line, why] of risky)
    it(`of ${from} words does not cover ${line}`, () => assert.equal(riskOf(programOf(line), from), why));
});
