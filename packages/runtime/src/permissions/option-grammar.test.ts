import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { programOf, show } from "../../../../test/support/shell-lines.ts";
import { optionsOf, type ReadWords, readWords, type Row } from "./option-grammar.ts";
import { lookingCommands } from "./asking-rows.ts";
import { lookingForms } from "./looking-forms.ts";
import { allRows, lookingRowOf, rowOf } from "./program-table.ts";

function read(line: string): string {
  const { options, operands, doubt } = wordsRead(line);
  const shown = options.map(
    (one) => `${one.effect} ${one.name}${one.value ? `=${show([one.value])}` : ""}${one.exact ? "" : "~"}`,
  );
  return [...shown, ...operands.map(({ word }) => show([word])), ...(doubt ? [`(${doubt})`] : [])].join(", ");
}

function wordsRead(line: string): ReadWords {
  const { name, words } = programOf(line);
  return readWords(rowOf(name) ?? lookingRowOf(name) ?? assert.fail(`${name} has no row`), words.slice(1));
}

describe("the words of a program", () => {
  const cases: [string, string][] = [
    ["sort -uo out in", "looks -u, writes -o=out, in"],
    ["sort -uoout in", "looks -u, writes -o=out, in"],
    ["sort in -o out", "writes -o=out, in"],
    ["sort --outp=x", "writes --output=x~"],
    ["sort --comp x in", "runs --compress-program=x~, in"],
    ["sort -- -o out", "-o, out"],
    ["sort -k2,2 -n5", "looks -k=2,2, looks -n, unknown -5=''~"],
    ["curl -so f http://x", "looks -s, writes -o=f, http://x"],
    ["wget -qO f http://x", "looks -q, writes -O=f, http://x"],
    ["tar cIf prog a.tar src", "looks -c, runs -I=prog, writes -f=a.tar, src"],
    ["tar -cI prog src", "looks -c, runs -I=prog, src"],
    ["make test -sf evil.mk", "looks -s, runs -f=evil.mk, test"],
    ["make SHELL=x all", "runs *==x, all"],
    ["zip -qTT x a.zip", "looks -q, runs -T, runs -T, x, a.zip"],
    ["zip -TT x a.zip", "runs -TT=x, a.zip"],
    ["dd if=a of=b bs=1", "reads if==a, writes of==b, looks bs==1"],
    ["xargs -n 1 sort -o x", "looks -n=1, sort, -o, x"],
    ["xargs -a list cat", "lists -a=list, cat"],
    ["strings @list", "lists @=list"],
    ["go test -exec prog ./...", "runs -exec=prog, test, ./..."],
    ["go test --exec=prog", "runs -exec=prog, test"],
    ["grep -Zq x", "looks -Z, looks -q, x"],
    ["grep -%R x", "unknown -%=R~, follows -R~, x"],
    ["head -5 a", "looks -#, a"],
    ["sort -o", "writes -o, (-o has no value)"],
    ["zip --TT x", "unknown --TT~, x"],
    ["go test -exe prog", "unknown -exe~, test, prog"],
    ["bat --paging=never a", "looks --paging=never, a"],
    ["bat --paging never a", "looks --paging=never, a"],
    ["bat --paging=always a", "unknown --paging=always, a"],
    ['bat --paging="$x" a', "unknown --paging=…, a"],
    ["tar c%f a", "looks -c, unknown -%~, writes -f=a"],
    ["tar cf", "looks -c, writes -f, (-f has no value)"],
    ["tar cfI a", "looks -c, writes -f=a, runs -I, (-I has no value)"],
    ["tar cf $x", "looks -c, writes -f=…+, (the value of -f may be several words)"],
    ["strings @l", "lists @=l"],
    ["strings @", "@"],
    ["dd of=$x", "writes of==…+, of=…+, (a word may turn out to be an option)"],
    ["make SHELL=$x", "runs *==…+, SHELL=…+, (a word may turn out to be an option)"],
    ["make $x", "…+, (a word may turn out to be an option)"],
    ['make "$x"', "…, (a word may turn out to be an option)"],
    ['sort "--output=$x"', "writes --output=…"],
    ['sort "-o$x"', "writes -o=…"],
    ['head "-5$x" a', "unknown -5=…~, a"],
    ["sort -k a* b", "looks -k=a*(*), b, (the value of -k may be several words)"],
    ["wc --lines=3 a", "looks --lines=3, a, (--lines takes no value)"],
  ];
  for (const [line, expected] of cases) it(`are told apart in ${line}`, () => assert.equal(read(line), expected));

  it("keep their places", () => {
    const places = (line: string): number[][] => {
      const { options, operands } = wordsRead(line);
      return [options.map(({ at }) => at), operands.map(({ at }) => at)];
    };
    assert.deepEqual(places("sort a -u -k 1 b --output=x -- c d"), [
      [1, 2, 5],
      [0, 4, 7, 8],
    ]);
    assert.deepEqual(places("xargs -n 1 sort -o x"), [[0], [2, 3, 4]]);
    assert.deepEqual(places("tar cIf prog a.tar -v src"), [[0, 0, 0, 3], [4]]);
    assert.deepEqual(places("head -n 1 -5 a"), [[0, 2], [3]]);
    assert.deepEqual(places("dd if=a x of=b"), [[0, 2], [1]]);
    assert.deepEqual(places("grep -%n x"), [[0, 0], [1]]);
  });

  it("are doubted where one may turn out to be an option", () => {
    const row = rowOf("sort") as Row;
    const open = { kind: "open", text: "", splits: false, tilde: false } as const;
    assert.match(readWords(row, [open]).doubt ?? "", /may turn out/);
    assert.match(readWords(row, [{ ...open, kind: "glob", text: "*" }]).doubt ?? "", /may turn out/);
    assert.equal(readWords(row, [{ ...open, text: "src/" }]).doubt, undefined);
    assert.match(readWords(row, [{ ...open, text: "-u" }]).doubt ?? "", /further options/);
  });
});

describe("the table of programs", () => {
  it("names each option once, in a form that is understood", () => {
    const problems: string[] = [];
    for (const [program, row] of everyRow()) {
      const names = optionsOf(row).map(({ name }) => name);
      const twice = names.filter((name, index) => names.indexOf(name) !== index);
      if (twice.length > 0) problems.push(`${program}: twice ${twice.join(" ")}`);
      const odd = names.filter(
        (name) => !/^(?:-[A-Za-z0-9#@.]|--[A-Za-z][\w.-]+|[A-Za-z]+=|\*=|[+@])$/.test(name) && !isWhole(name, row),
      );
      if (odd.length > 0) problems.push(`${program}: odd ${odd.join(" ")}`);
    }
    assert.deepEqual(problems, []);
  });

  it("agrees with what installed programs say about values", () => {
    const problems: string[] = [];
    for (const [program, row] of everyRow()) {
      if (row.singleDash || program.includes(" ")) continue;
      const said = spokenOptions(program);
      for (const { name, arity } of optionsOf(row)) {
        const takes = said.get(name);
        if (takes !== undefined && takes !== arity && !misspoken.has(`${program} ${name}`))
          problems.push(`${program} ${name}: ${arity} here, ${takes} there`);
      }
    }
    assert.deepEqual(problems, []);
  });
});

function everyRow(rows: Iterable<[string, Row]> = [...allRows(), ...commandRows(), ...formRows()], before = ""): [string, Row][] {
  return [...rows].flatMap(([name, row]) => [
    [before + name, row] as [string, Row],
    ...everyRow(Object.entries(row.commands ?? {}), `${before}${name} `),
  ]);
}

function commandRows(): [string, Row][] {
  return Object.entries(lookingCommands).map(([name, commands]) => [`${name} `, { operands: "else", commands }]);
}

/** With a space, so that they are not taken for the rows of rules. */
function formRows(): [string, Row][] {
  return Object.entries(lookingForms).map(([name, row]) => [`${name} (looking)`, row]);
}

/** One dash and several letters: only where the row says so. */
function isWhole(name: string, row: Row): boolean {
  return /^-[\w/-]+$/.test(name) && (row.singleDash === true || JSON.stringify(row).includes(`=${name}`));
}

/** What `--help` of GNU programs says: `-o, --output=FILE`, `--color[=WHEN]`. Nothing where it is not installed or speaks otherwise. */
function spokenOptions(program: string): Map<string, "flag" | "value" | "optional"> {
  const found = new Map<string, "flag" | "value" | "optional">();
  if (!/^[a-z]/.test(program) || speaksOtherwise.has(program)) return found;
  const { stdout } = spawnSync(program, ["--help"], { encoding: "utf8", timeout: 10_000, stdio: ["ignore", "pipe", "ignore"] });
  for (const line of (stdout ?? "").split("\n")) {
    const [, short, long, mark] = /^\s{1,8}(?:(-[A-Za-z0-9]),?\s+)?(--[a-z][a-z0-9-]+)(\[?=)?/.exec(line) ?? [];
    if (long === undefined) continue;
    const arity = mark === "=" ? "value" : mark === "[=" ? "optional" : "flag";
    if (mark === undefined && /^\s+(?:-\w,?\s+)?--[\w-]+,? [-<A-Z[]/.test(line)) continue; // several spellings on a line, or a value in words
    found.set(long, arity);
    if (short) found.set(short, arity);
  }
  return found;
}

/** Where the text is ambiguous: a short form of another meaning, or a value told in words. */
const misspoken = new Set(
  (
    "tail -f,ls -F,ls -p,du --time,file -P,file --parameter,sort -C,sort --check,shasum -a,shasum --algorithm,hostname -F,cp --update,mv --update," +
    "mv --context,patch --merge,xargs --max-lines,wget --max-redirect,wget --hsts-file,wget --backups"
  ).split(","),
);

const speaksOtherwise = new Set([
  "npm",
  "docker",
  "kubectl",
  "curl",
  "exit",
  "return",
  "pytest",
  "cargo",
  "yq",
  "psql",
  "lsof",
  "man",
]);
