import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mayHaveHeld, mayMeet, type Seen } from "./forbidden-below.ts";
import type { FolderEntry } from "./glob-words.ts";
import { parseRule } from "./rules.ts";

const folders: Readonly<Record<string, string>> = {
  "/p": "cfg/ src/ many/ a.txt l@",
  "/p/cfg": "deep/ ok.txt",
  "/p/cfg/deep": ".ENV",
  "/p/src": "b.py round@",
  "/p/links": "one@",
  "/p/leads": "deep@",
  "/p/many": Array.from({ length: 30_001 }, (_, index) => `f${index}`).join(" "),
  "/p/almost": Array.from({ length: 30_000 }, (_, index) => `f${index}`).join(" "),
};
const links: Readonly<Record<string, string>> = {
  "/p/links/one": "/else/.env",
  "/p/leads/deep": "/p/cfg/deep",
  "/p/src/round": "/p/src",
};
const seen: Seen = {
  base: { root: "/p", home: undefined },
  settled: true,
  list: async (folder) =>
    folders[folder]?.split(" ").map((name): FolderEntry => {
      const kind = name.endsWith("/") ? "directory" : name.endsWith("@") ? "symlink" : "file";
      return { name: name.replace(/[/@]$/, ""), kind };
    }),
  resolve: async (path) => {
    const to = links[path];
    if (path === "/p/l") throw new Error("ELOOP");
    return to ?? path;
  },
};
const meet = (folder: string, rule = "Read(.env)", by: Partial<Seen> = {}): Promise<boolean> =>
  mayMeet(parseRule(rule), folder, { ...seen, ...by });

describe("what a program meets that goes through a folder", () => {
  it("is a name that a rule forbids in every folder, where one has it", async () => {
    for (const rule of ["Read(.env)", "Read(./.env)", "Read(deep)", "Read(./deep/)"])
      assert.deepEqual([await meet("/p/cfg", rule), await meet("/p/src", rule)], [true, false], rule);
    assert.deepEqual([await meet("/p"), await meet("/p/cfg", "Read(/.env)"), await meet("/else")], [true, false, false]);
    assert.equal(await meet("/p/src", "Read"), true);
    assert.equal(await meet("/p/a.txt"), false);
  });

  it("is also where links lead", async () => {
    assert.deepEqual([await meet("/p/leads"), await meet("/p/links", "Read(//else/.env)")], [true, false]);
    assert.equal(await meet("/p/leads", "Read(l)"), false);
  });

  it("may be anything where folders are too large, not known, or changed before", async () => {
    assert.deepEqual([await meet("/p/many"), await meet("/p/almost")], [true, false]);
    assert.equal(await meet("/p/src", "Read(.env)", { settled: false }), true);
    assert.equal(await meet("/p/src", "Read(.env)", { list: undefined }), true);
    assert.equal(await meet("/else", "Read(.env)", { list: undefined }), false);
  });

  it("may be in the history of every folder", async () => {
    const held = (path: string, rule = "Read(.env)", by: Partial<Seen> = {}): Promise<boolean> =>
      mayHaveHeld(parseRule(rule), path, { ...seen, ...by });
    assert.deepEqual(
      [
        await held("/p/src"),
        await held("/p/gone"),
        await held("/p/a.txt"),
        await held("/p/a.txt", "Read(.env)", { list: undefined }),
      ],
      [true, true, false, true],
    );
    assert.deepEqual([await held("/p/src", "Read(/.env)"), await held("/p", "Read(/.env)")], [false, true]);
  });
});
