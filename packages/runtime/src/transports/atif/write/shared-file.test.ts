import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { writeSharedFile } from "./shared-file.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-atomic-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("writeSharedFile", () => {
  it("makes the folders on the way and leaves nothing but the file", () => {
    const path = join(folder, "a/b/c.json");
    writeSharedFile(path, "one");
    writeSharedFile(path, "two");
    assert.deepEqual([readFileSync(path, "utf8"), readdirSync(join(folder, "a/b"))], ["two", ["c.json"]]);
  });

  it("leaves what was there when it fails", () => {
    const path = join(folder, "kept.json");
    writeSharedFile(path, "old");
    assert.throws(() => writeSharedFile(join(path, "below.json"), "new"), { code: /ENOTDIR|EEXIST/ });
    assert.equal(readFileSync(path, "utf8"), "old");
  });
});
