import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expandGlob, type FolderEntry, type ListFolder } from "./glob-words.ts";
import type { ShellWord } from "./shell-words.ts";

type Tree = { readonly [name: string]: Tree | "file" | "link" };
const tree: Tree = {
  w: {
    "a.ts": "file",
    "b.ts": "file",
    "ab.ts": "file",
    ".env": "file",
    "x y": "file",
    out: "link",
    src: { "a.ts": "file", "c.js": "file", ".hidden": { "a.ts": "file" }, deep: { "a.ts": "file" } },
    lib: { "a.ts": "file" },
  },
  etc: { passwd: "file" },
};

function list(folder: string): FolderEntry[] | undefined {
  let at: Tree | "file" | "link" | undefined = tree;
  for (const name of folder.split("/").filter(Boolean)) at = typeof at === "object" ? at[name] : undefined;
  if (typeof at !== "object") return undefined;
  return Object.entries(at).map(([name, value]) => ({
    name,
    kind: value === "file" ? "file" : value === "link" ? "symlink" : "directory",
  }));
}

const glob = (text: string, splits = false): ShellWord => ({ kind: "glob", text, splits, tilde: false });
/** `/w/out` is a link. */
const by = (listing: ListFolder): Parameters<typeof expandGlob>[2] => ({
  list: listing,
  resolve: async (path) => path.replace(/^\/w\/out(?=\/|$)/, "/etc/deep").replace(/(.)\/$/, "$1"),
});
const expand = async (text: string, folders = ["/w"], splits = false): Promise<string[] | undefined> =>
  (
    await expandGlob(
      glob(text, splits),
      folders,
      by(async (folder) => list(folder)),
    )
  )
    ?.map((word) => word.text)
    .sort();

describe("what a pattern stands for", () => {
  it("is what matches in each folder, and the pattern itself", async () => {
    assert.deepEqual(await expand("*.ts"), ["*.ts", "a.ts", "ab.ts", "b.ts"]);
    assert.deepEqual(await expand("?.ts"), ["?.ts", "a.ts", "b.ts"]);
    assert.deepEqual(await expand("[ab].ts"), ["[ab].ts", "a.ts", "b.ts"]);
    assert.deepEqual(await expand("a*.ts"), ["a*.ts", "a.ts", "ab.ts"]);
    assert.deepEqual(await expand("*.c"), ["*.c"]);
    assert.deepEqual(await expand("*.js", ["/w/lib", "/w/src"]), ["*.js", "c.js"]);
    assert.deepEqual(await expand("*.ts", ["/none"]), ["*.ts"]);
  });

  it("goes through folders and links, and never through files", async () => {
    assert.deepEqual(await expand("*/a.ts"), ["*/a.ts", "lib/a.ts", "out/a.ts", "src/a.ts"]);
    assert.deepEqual(await expand("src/*.ts"), ["src/*.ts", "src/a.ts"]);
    assert.deepEqual(await expand("/w/l*/*"), ["/w/l*/*", "/w/lib/a.ts"]);
    assert.deepEqual(await expand("/e*/passwd"), ["/e*/passwd", "/etc/passwd"]);
    assert.deepEqual(await expand("s*/d*/a.ts"), ["s*/d*/a.ts", "src/deep/a.ts"]);
    assert.deepEqual(await expand("l*/"), ["l*/", "lib/"]);
  });

  it("takes hidden names only where the dot is written", async () => {
    assert.deepEqual(await expand(".e*"), [".e*", ".env"]);
    assert.deepEqual(await expand("*env"), ["*env"]);
    assert.deepEqual(await expand("src/.h*/a.ts"), ["src/.h*/a.ts", "src/.hidden/a.ts"]);
    assert.deepEqual(await expand("src/?hidden"), ["src/?hidden"]);
  });

  it("is, in brackets, whatever they may stand for", async () => {
    const names = ["a", "b", "]", "[a]x", "[", "é", "😀", "-", "aa", "x[]a", "x[!]a", "[]a"];
    const entries = names.map((name): FolderEntry => ({ name, kind: "file" }));
    const matching = async (text: string): Promise<string[] | undefined> =>
      (
        await expandGlob(
          glob(text),
          ["/w"],
          by(async () => entries),
        )
      )
        ?.slice(1)
        .map((word) => word.text);
    const single = ["a", "b", "]", "[", "é", "😀", "-"];
    for (const text of ["[ab]", "[!ab]", "[^]]", "[]b]", "[[:alpha:]]", "[![:digit:]x]", "[a[:space:]]"])
      assert.deepEqual(await matching(text), single, text);
    // What is not certain to be closed, or may stand for several letters, stands for anything.
    for (const text of ["[[.a.]]", "[[=a=]]", "[a", "[]", "[!]", "[[a]b"]) assert.deepEqual(await matching(text), names, text);
    assert.deepEqual(await matching("x[]?"), ["x[]a", "x[!]a"]);
    assert.deepEqual(await matching("x[!]?"), ["x[]a", "x[!]a"]);
    assert.deepEqual(await matching("??"), ["é", "😀", "aa"]);
    assert.deepEqual(await matching("😀*"), ["😀"]);
  });

  it("may be the folder above where older versions of bash think so", async () => {
    assert.deepEqual(await expand(".*"), [".*", "..", ".env"]);
    assert.deepEqual(await expand("..*"), ["..", "..*"]);
    assert.deepEqual(await expand(".?"), ["..", ".?"]);
    assert.deepEqual(await expand(".[.]"), ["..", ".[.]"]);
    assert.deepEqual(await expand(".[--9]"), ["..", ".[--9]"]);
    assert.deepEqual(await expand(".[!a]*"), ["..", ".[!a]*", ".env"]);
    assert.deepEqual(await expand(".*/a.ts"), [".*/a.ts", "../a.ts"]);
    for (const text of [".[a-z]*", ".[!.]*", ".[^.x]*", ".??*", ".[a-z0-9_]*"])
      assert.deepEqual(await expand(text), [text, ".env"].sort(), text);
  });

  it("goes up from where a link leads", async () => {
    assert.deepEqual(await expand("out/../*"), ["out/../*", "out/../passwd"]);
    assert.deepEqual(await expand("src/deep/../*.js"), ["src/deep/../*.js", "src/deep/../c.js"]);
    assert.deepEqual(await expand("out/.*/p*"), ["out/.*/p*", "out/../passwd"]);
    const nowhere = { list: async () => [], resolve: () => Promise.reject(new Error("a circle")) };
    assert.equal(await expandGlob(glob("a/../*"), ["/w"], nowhere), undefined);
  });

  it("is not known where a name is no text", async () => {
    const odd = by(async () => [{ name: "a\ufffd", kind: "symlink" }]);
    assert.equal(await expandGlob(glob("a*"), ["/w"], odd), undefined);
    assert.equal((await expandGlob(glob("b*"), ["/w"], odd))?.length, 1);
  });

  it("is not known where a match would be taken apart, or there are too many", async () => {
    assert.deepEqual(await expand("x*"), ["x y", "x*"]);
    assert.equal(await expand("x*", ["/w"], true), undefined);
    assert.deepEqual(await expand("a*.ts", ["/w"], true), ["a*.ts", "a.ts", "ab.ts"]);
    const many = async (count: number): Promise<number | undefined> => {
      const names = Array.from({ length: count }, (_, index): FolderEntry => ({ name: `f${index}`, kind: "file" }));
      return (
        await expandGlob(
          glob("f*"),
          ["/w"],
          by(async () => names),
        )
      )?.length;
    };
    assert.deepEqual([await many(999), await many(1000), await many(1001)], [1000, undefined, undefined]);
    const nested = async (folders: number, files: number): Promise<number | undefined> => {
      const [above, inside] = [folders, files].map((count) =>
        Array.from({ length: count }, (_, index): FolderEntry => ({ name: `f${index}`, kind: "directory" })),
      );
      return (
        await expandGlob(
          glob("f*/f*"),
          ["/w"],
          by(async (folder) => (folder === "/w/" ? above : inside)),
        )
      )?.length;
    };
    assert.deepEqual(
      [await nested(3, 333), await nested(2, 501), await nested(200, 1), await nested(199, 1)],
      [1000, undefined, undefined, 200],
    );
    const folders = async (count: number): Promise<number | undefined> =>
      (
        await expandGlob(
          glob("f*"),
          Array.from({ length: count }, (_, index) => `/${index}`),
          by(async () => []),
        )
      )?.length;
    assert.deepEqual([await folders(200), await folders(201)], [1, undefined]);
  });
});
