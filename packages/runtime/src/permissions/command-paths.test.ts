import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { wordsOf } from "../../../../test/support/shell-lines.ts";
import { foldersOf, type Ground, targetsOf } from "./command-paths.ts";
import { exactWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** Links of an imagined disk. `loop` leads nowhere. */
const links: Readonly<Record<string, string>> = { "/p/link": "/far/away", "/p/self": "/p" };

async function resolve(path: string): Promise<string> {
  if (path.includes("loop")) throw new Error("a circle of links");
  for (const [from, to] of Object.entries(links))
    if (path === from || path.startsWith(`${from}/`)) return to + path.slice(from.length);
  return path;
}

const ground: Ground = { base: { root: "/p", home: "/home/u" }, cwd: "/p", resolve };
const chain = (text: string): ShellWord[] => (text === "" ? [] : text.split(" ").map(toWord));
const toWord = (text: string): ShellWord => ({ ...exactWord(text), tilde: text.startsWith("~") });

it("folders of so many links that nobody could look at them all are not told", async () => {
  const chained: Ground = { ...ground, resolve: async (path) => path.replaceAll("/l", "/r") };
  const after = (count: number): ShellWord[] => chain("l ".repeat(count).trim());
  assert.deepEqual(await foldersOf([after(15)], chained), [`/p${"/r".repeat(15)}`]);
  assert.equal(await foldersOf([after(16)], chained), undefined);
});

async function targets(word: ShellWord, places: string[] = [""], from: Ground = ground): Promise<string> {
  const found = await targetsOf({ word, places: places.map(chain) }, from);
  return found.map((target) => (target ? `${target.path}${target.pattern ? " (pattern)" : ""}` : "?")).join(", ");
}

describe("where the words of a command lead", () => {
  const cases: [line: string, expected: string][] = [
    ["a", "/p/a"],
    ["./a/../b", "/p/b"],
    ["/etc/x", "/etc/x"],
    ["link", "/far/away"],
    ["link/x", "/far/away/x"],
    ["link/..", "/far"],
    ["link/../x", "/far/x"],
    ["loop", "?"],
    ["/proc/self/c*/x", "?"],
    ["/proc/[1-9]*", "/proc/[1-9]* (pattern)"],
    ["loop/../x", "?"],
    ["~", "/home/u"],
    ["~/x", "/home/u/x"],
    ["~root", "?"],
    ["~root/x", "?"],
    ["/dev/null", "/dev/null"],
    ["$x", "?"],
    ["''", "?"],
    ["*", "/p/* (pattern)"],
    ["src/*.ts", "/p/src/*.ts (pattern)"],
    ["src/a*/b?", "/p/src/a*/b? (pattern)"],
    ["/*", "/* (pattern)"],
    ["/etc/*.d/x", "/etc/*.d/x (pattern)"],
    ["link/*", "/far/away/* (pattern)"],
    ["link/../*", "/far/* (pattern)"],
    ["loop/*", "?"],
    ["a*/../b", "?"],
    ["*/..", "?"],
    ["a*/..b", "/p/a*/..b (pattern)"],
    ["../*", "/* (pattern)"],
    ["/dev/nul?", "/dev/nul? (pattern)"],
  ];
  for (const [line, expected] of cases)
    it(`${line} → ${expected}`, async () => assert.equal(await targets(wordsOf(`cat ${line}`)[0] ?? unknownWord), expected));

  it("is told for every folder the program may be in, which `cd` reaches by names or by where they lead", async () => {
    const a = exactWord("a");
    assert.equal(await targets(a, ["", "src"]), "/p/a, /p/src/a");
    assert.equal(await targets(a, ["link"]), "/far/away/a");
    assert.equal(await targets(a, ["link .."]), "/p/a, /far/a");
    assert.equal(await targets(a, ["link/.."]), "/p/a, /far/a");
    assert.equal(await targets(a, ["link .. link"]), "/far/away/a, /far/link/a");
    assert.equal(await targets(a, ["src /etc"]), "/etc/a");
    assert.equal(await targets(a, ["loop/.."]), "?");
    assert.equal(await targets(a, ["~ x"]), "/home/u/x/a");
    assert.equal(await targets(a, ["~root"]), "?");
    assert.equal(await targets(a, ["loop"]), "?");
    assert.deepEqual(await targetsOf({ word: a, places: undefined }, ground), [undefined]);
    assert.equal(await foldersOf(undefined, ground), undefined);
    assert.equal(await targets(exactWord("/etc/x"), ["loop"]), "/etc/x");
  });

  it("is told for every folder that git may take for the top of its repository", async () => {
    const top: ShellWord = { ...unknownWord, top: true };
    const folders = (cwd: string, repositories: readonly string[]): Promise<string[] | undefined> =>
      foldersOf([[top]], {
        ...ground,
        cwd,
        list: async (folder) =>
          repositories.includes(folder) ? [{ name: ".git", kind: "directory" }] : [{ name: "x", kind: "file" }],
      });
    assert.deepEqual(await folders("/p/a/b", ["/p"]), ["/p"]);
    assert.deepEqual(await folders("/p/a/b", ["/p/a/b", "/p", "/"]), ["/p/a/b", "/p", "/"]);
    assert.deepEqual(await folders("/p/link/x", ["/p", "/far"]), ["/far"]);
    assert.deepEqual(await folders("/p", []), []);
    assert.equal(await folders("/p/loop", ["/p"]), undefined);
    assert.equal(await foldersOf([[top]], ground), undefined);
    assert.equal(await foldersOf([[top]], { ...ground, list: async () => undefined }), undefined);
    assert.equal(
      (
        await targetsOf(
          { word: exactWord("a"), places: [[], [top]] },
          { ...ground, list: async () => [{ name: ".git", kind: "file" }] },
        )
      )
        .map((target) => target?.path)
        .join(" "),
      "/p/a /a",
    );
  });

  it("is told for what lies below a folder, and for nothing where there is no home or a name is broken", async () => {
    const below = (text: string): ShellWord => ({ ...exactWord(text), kind: "below" });
    assert.equal(await targets(below("link")), "/far/away/** (pattern)");
    assert.equal(await targets(below("src")), "/p/src/** (pattern)");
    assert.equal(await targets(below("loop")), "?");
    const homeless = { ...ground, base: { root: "/p", home: undefined } };
    assert.equal(await targets(toWord("~/x"), [""], homeless), "?");
    assert.equal(await targets(exactWord("x"), ["~"], homeless), "?");
    assert.equal(await targets(exactWord("a\0b")), "?");
  });
});
