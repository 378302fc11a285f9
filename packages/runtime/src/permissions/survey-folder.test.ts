import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FolderEntry } from "./glob-words.ts";
import type { Needs } from "./shell-words.ts";
import { surveyFolder } from "./survey-folder.ts";

const file = (name: string): FolderEntry => ({ name, kind: "file" });
const link = (name: string): FolderEntry => ({ name, kind: "symlink" });
const folder = (name: string): FolderEntry => ({ name, kind: "directory" });

type Folders = Readonly<Record<string, readonly FolderEntry[] | undefined>>;
const both = { links: true, names: true };

function survey(folders: Folders, needs: Needs = both): Promise<string | undefined> {
  return surveyFolder("/w", needs, {
    list: async (path) => folders[path],
    resolve: async (path) => {
      if (path.endsWith("circle")) throw new Error("ELOOP");
      return path.endsWith("out") ? "/etc" : path;
    },
    mayLead: (path) => path.startsWith("/w/"),
  });
}

describe("a survey of a folder", () => {
  it("finds links that lead elsewhere, at any depth", async () => {
    assert.equal(await survey({ "/w": [file("a"), link("in"), folder("b")], "/w/b": [file("c")] }), undefined);
    assert.equal(
      await survey({ "/w": [folder("b")], "/w/b": [folder("c")], "/w/b/c": [link("out")] }),
      "/w/b/c/out is a link that leads elsewhere",
    );
    assert.equal(await survey({ "/w": [link("circle")] }), "/w/circle is a link that leads elsewhere");
    assert.equal(await survey({ "/w": [link("out")] }, { links: false, names: true }), undefined);
    assert.equal(await survey({ "/w": [file("out")] }), undefined);
    assert.equal(await survey({ "/w": [file("a\ufffd")] }), undefined);
    const deep = { "/w": [folder("b")], "/w/b": [link("out")] };
    assert.equal(await survey(deep, { links: true, names: false, shallow: true }), undefined);
    for (const odd of [link("a\ufffd"), folder("a\ufffd")])
      assert.equal(await survey({ "/w": [odd] }), "/w/a\ufffd has a name that is no text");
    assert.equal(await survey({ "/w": [link("in")], "/w/in": [file("-x")] }), undefined);
  });

  it("finds names that would be taken apart, or for options", async () => {
    for (const name of ["-x", "a b", "a*", "it's", "a[b", "a\nb", "a\\b", "a?"])
      assert.equal(await survey({ "/w": [file(name)] }), `/w/${name} would be taken apart, or for an option`);
    assert.equal(await survey({ "/w": [file("-x")] }, { links: true, names: false }), undefined);
    assert.equal(await survey({ "/w": [file("a-x")] }), undefined);
  });

  it("passes by what cannot be listed, and gives up where there is too much", async () => {
    assert.equal(await survey({}), undefined);
    assert.match((await survey({ "/w": [folder("gone"), folder("b")], "/w/b": [link("out")] })) ?? "", /out is a link/);
    const many = (count: number): FolderEntry[] => Array.from({ length: count }, (_, index) => file(`f${index}`));
    assert.equal(await survey({ "/w": many(30_000) }), undefined);
    assert.equal(await survey({ "/w": many(30_001) }), "there are more than 30000 files below /w");
    assert.equal(
      await survey({ "/w": [...many(20_000), folder("b")], "/w/b": many(10_000) }),
      "there are more than 30000 files below /w",
    );
    assert.equal(await survey({ "/w": many(30_001) }, { links: false, names: false }), undefined);
  });
});
