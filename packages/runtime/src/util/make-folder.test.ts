import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { makeFolder } from "./make-folder.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-make-folder-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("makeFolder", () => {
  it("gives every new folder the mode, and says which is the first", () => {
    assert.equal(makeFolder(join(folder, "a/b"), 0o755), join(folder, "a"));
    assert.equal(makeFolder(join(folder, "a/b/c")), join(folder, "a/b/c"));
    assert.equal(makeFolder(join(folder, "a/b/c")), undefined);
    assert.deepEqual(
      ["a", "a/b", "a/b/c"].map((path) => statSync(join(folder, path)).mode & 0o055),
      [0o055, 0o055, 0],
    );
  });

  it("comes back where no folder can be made, also where the system is contradictory", {
    skip: existsSync("/proc/self") ? false : "there is no /proc",
  }, () => {
    assert.throws(() => makeFolder("/proc/no-such-folder/deep"), { code: "ENOENT" });
  });
});
