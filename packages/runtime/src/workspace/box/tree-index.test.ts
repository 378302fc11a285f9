import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { TreeIndex } from "./tree-index.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "outrider-index-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("TreeIndex", () => {
  const filter = {
    keepsIn: () => (name: string) => name === "kept",
    enters: (_folder: string, name: string) => name !== "closed",
  };
  const look = (index: TreeIndex): Record<string, readonly string[]> =>
    Object.fromEntries(
      [...index.refresh({ opens: false })].map(([path, { files }]) => [
        path.slice(root.length),
        files.map((file) => file.slice(root.length)),
      ]),
    );

  it("finds what is new, moved or gone, whatever date it was given", () => {
    const index = new TreeIndex([root], filter);
    mkdirSync(join(root, "a/b"), { recursive: true });
    assert.deepEqual(look(index), { "": [], "/a": [], "/a/b": [] });
    writeFileSync(join(root, "a/b/kept"), "");
    writeFileSync(join(root, "a/b/other"), "");
    mkdirSync(join(root, "a/closed/c"), { recursive: true });
    for (const path of ["", "a", "a/b", "a/b/kept"]) utimesSync(join(root, path), 1, 1);
    assert.deepEqual(look(index), { "": [], "/a": [], "/a/b": ["/a/b/kept"] });
    renameSync(join(root, "a/b"), join(root, "b"));
    mkdirSync(join(root, "a/b"));
    assert.deepEqual(look(index), { "": [], "/a": [], "/b": ["/b/kept"], "/a/b": [] });
    rmSync(join(root, "b"), { recursive: true });
    assert.deepEqual(look(index), { "": [], "/a": [], "/a/b": [] });
  });

  it("knows a git directory by its names, whatever they are", () => {
    const index = new TreeIndex([root], filter);
    for (const name of ["HEAD", "objects", "refs"]) writeFileSync(join(root, name), "");
    mkdirSync(join(root, "linked"));
    for (const name of ["HEAD", "commondir"]) mkdirSync(join(root, "linked", name));
    const found = [...index.refresh({ opens: false })].filter(([, { isGit }]) => isGit).map(([path]) => path);
    assert.deepEqual(found, [root, join(root, "linked")]);
  });
});
