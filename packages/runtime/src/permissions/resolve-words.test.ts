import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import { itHolds } from "../../../../test/support/it-holds.ts";
import { showWord } from "../../../../test/support/show-command.ts";
import type { ListFolder } from "./glob-words.ts";
import { parseCommand } from "./parse-command.ts";
import { foldersListed, resolveRead, resolveWords, withoutPatterns } from "./resolve-words.ts";

const folders: Readonly<Record<string, string>> = {
  "/w": "a.ts b.ts src lib",
  "/w/src": "a.ts c.js deep",
  "/w/lib": "a.ts",
  "/w/src/deep": "x.ts",
  "/": "w",
  "/e": "",
};
const list: ListFolder = async (folder) =>
  folders[resolve(folder)]
    ?.split(" ")
    .filter(Boolean)
    .map((name) => ({ name, kind: name.includes(".") ? "file" : "directory" }));
const by = { ground: { base: { root: "/w", home: "/h" }, cwd: "/w", resolve: async (path: string) => path }, list };

async function show(command: string, listing: ListFolder | undefined = list): Promise<string> {
  const { programs, reads } = parseCommand(command);
  const program = programs.at(-1);
  if (!program) return "";
  const resolved = await resolveWords(program, { ...by, list: listing });
  const read = (await Promise.all(reads.map((use) => resolveRead(use, { ...by, list: listing })))).flat();
  const shown = (words: readonly Parameters<typeof showWord>[0][]): string => words.map(showWord).join(" ");
  return [
    shown(resolved.words),
    `< ${shown(read.map(({ word }) => word))}`,
    `in ${shown(foldersListed(program.words, resolved.words))}`,
  ]
    .filter((part) => !/^(?:<|in) $/.test(part))
    .join(" ; ");
}

/** The words bash would put there, what is read, and the folders whose names are listed. */
// biome-ignore format: a list
const rows: Readonly<Record<string, string>> = {
  "echo a": "echo a",
  "echo *.ts": "echo *.ts a.ts b.ts ; in .",
  "echo src/*.ts": "echo src/*.ts src/a.ts ; in src",
  "echo */a.ts": "echo */a.ts src/a.ts lib/a.ts ; in . * src lib",
  "echo src/*/x.ts": "echo src/*/x.ts src/deep/x.ts ; in src src/* src/deep",
  "echo */*/x.ts": "echo */*/x.ts src/deep/x.ts ; in . */* src/deep",
  "echo ~/x*": "echo ~:~/x\u2026+ ; in ~:~",
  "echo ~/*/x": "echo ~:~/\u2026+ ; in ~:~ \"\"\u2026",
  "echo ../*": "echo ../* ../w ; in ..",
  "echo /w/*": "echo /w/* /w/a.ts /w/b.ts /w/src /w/lib ; in /w",
  "echo /*": "echo /* /w ; in /",
  "echo $x/a*": "echo \"\"\u2026*+ ; in \"\"\u2026",
  "echo $x": "echo \"\"\u2026+",
  "echo a/$x": "echo a/\u2026+ ; in a",
  "echo /$x": "echo /\u2026+ ; in /",
  "echo a$x": "echo a\u2026+",
  "echo \"a/$x\"": "echo a/\u2026",
  "echo ${y:-*}": "echo \"\"\u2026*+ ; in \"\"\u2026",
  "cat $(ls)": "cat ./**(links,names)+ ; in ./**(links,names)+",
  "cat $(ls) *.ts": "cat ./**(links,names)+ *.ts a.ts b.ts ; in ./**(links,names)+ .",
  "cat $(ls) */a.ts": "cat ./**(links,names)+ */a.ts src/a.ts lib/a.ts ; in ./**(links,names)+ . * src lib",
  "cat $(find src -print0)": "cat \"\"\u2026*+ ; in \"\"\u2026",
  "find . -exec cat {} +": "find . -exec cat \"{}\" +",
  "echo *.ts src/*.ts *.ts": "echo *.ts a.ts b.ts src/*.ts src/a.ts *.ts a.ts b.ts ; in . src",
  "echo none*": "echo none* ; in .",
  "echo none*/x": "echo none*/x ; in . none*",
  "echo none/*/x": "echo none/*/x ; in none none/*",
  "pushd a; echo *.ts": "echo \"\"\u2026+ ; in .",
  "cd src && echo *.ts": "echo *.ts a.ts ; in .",
  "cd ~ && echo *.ts": "echo *.ts ; in .",
  "cat < *.ts": "cat ; < *.ts a.ts b.ts",
  "cat < a": "cat ; < a",
  "cat < ~/x*": "cat ; < \"\"\u2026",
  "cat < none/*": "cat ; < none/*",
  "pushd a; cat < *.ts": "cat ; < \"\"\u2026",
  "for f in *.ts; do cat $f; done": "cat *.ts a.ts b.ts ; in .",
  "echo */a.ts ~/*/b": "echo */a.ts src/a.ts lib/a.ts ~:~/\u2026+ ; in . ~:~ \"\"\u2026",
  "echo */a.ts src/*.js": "echo */a.ts src/a.ts lib/a.ts src/*.js src/c.js ; in . src * lib",
  "cat < $x": "cat ; < \"\"\u2026+",
  "cat < \"a$x\"": "cat ; < a\u2026",
  "for f in $(ls); do cat $f; done": "cat ./**(links,names)",
  "echo ~*": "echo ~:~\u2026+ ; in .",
  "echo src/*.ts */a.ts": "echo src/*.ts src/a.ts */a.ts src/a.ts lib/a.ts ; in src . * lib",
  "echo *.ts ~/*/b": "echo *.ts a.ts b.ts ~:~/\u2026+ ; in . ~:~ \"\"\u2026",
};

describe("patterns of a command", () => {
  itHolds("stand for files", Object.entries(rows), async ([command, expected]) => {
    const shown = await show(command);
    return shown === expected ? undefined : `${command}: ${shown}, not ${expected}`;
  });

  it("stay unknown where no folder can be listed", async () => {
    const { programs, reads } = parseCommand("cat src/*.ts < *.js");
    const nobody = { ...by, list: undefined };
    const resolved = await Promise.all(programs.map((program) => resolveWords(program, nobody)));
    assert.deepEqual(resolved[0]?.words.map(showWord), ["cat", "src/…+"]);
    assert.deepEqual(
      (await Promise.all(reads.map((use) => resolveRead(use, nobody)))).flat().map(({ word }) => showWord(word)),
      ['""…'],
    );
  });

  it("are the program's own where it has none", async () => {
    for (const program of parseCommand("cat a $x").programs) assert.equal(await resolveWords(program, by), program);
  });

  it("can be taken for harmless names", () => {
    const [program] = parseCommand("cat a *.ts").programs.map(withoutPatterns);
    assert.deepEqual(program?.words.map(showWord), ["cat", "a", "x"]);
  });
});
