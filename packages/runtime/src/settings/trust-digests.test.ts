import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { differences, takeDigests } from "./trust-digests.ts";
import type { ProjectFile } from "./trust-files.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-digests-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("digests of a project", () => {
  it("are the same in whatever order its files were found, sorted by name", () => {
    const files = [file("b", "1"), file("a", "2"), file("c", "3")];
    const bounds = { files: 10, bytes: 100 };
    const there = takeDigests({ files, problem: undefined }, bounds);
    assert.deepEqual(takeDigests({ files: files.toReversed(), problem: undefined }, bounds), there);
    assert.deepEqual(
      there.files.map(([name]) => name),
      ["a", "b", "c"],
    );
  });

  it("tell a file from a link to the same content, and one link from another", () => {
    const plain = file("a", "x");
    const kinds = [plain, { ...plain, link: "y" }, { ...plain, link: "z" }, { ...plain, link: "z", content: false }];
    const digests = kinds.map((one) => takeDigests({ files: [one], problem: undefined }, { files: 1, bytes: 1 }).fingerprint);
    assert.equal(new Set(digests).size, kinds.length);
  });

  it("are taken of so many bytes in all", () => {
    const nothing: ProjectFile = { name: "c", path: join(folder, "nowhere"), link: "nowhere", content: false };
    const files = [nothing, file("a", "123"), file("b", "456")];
    assert.equal(takeDigests({ files, problem: undefined }, { files: 2, bytes: 6 }).problem, undefined);
    const { fingerprint, files: none, problem } = takeDigests({ files, problem: undefined }, { files: 2, bytes: 5 });
    assert.deepEqual([fingerprint, none], ["", []]);
    assert.match(problem ?? "", /^there is too much to look at/);
  });

  it("are none when something was wrong before", () => {
    const nothing = { fingerprint: "", files: [], problem: "broken" };
    assert.deepEqual(takeDigests({ files: [file("a", "1")], problem: "broken" }, { files: 1, bytes: 9 }), nothing);
  });

  it("name what was added, removed or changed", () => {
    const before = [
      ["same", "1"],
      ["gone", "1"],
      ["changed", "1"],
    ] as const;
    const after = [
      ["same", "1"],
      ["changed", "2"],
      ["added", "1"],
    ] as const;
    assert.deepEqual(differences(before, after), ["added", "changed", "gone"]);
  });
});

function file(name: string, content: string): ProjectFile {
  const path = join(folder, name);
  writeFileSync(path, content);
  return { name, path, content: true };
}
