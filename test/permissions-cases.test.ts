import assert from "node:assert/strict";
import { linkSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { judgeCase, parseCase } from "../packages/runtime/src/permissions/judge-case.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";

// Every case of the shared file is a test of its own in test/security-cases.
describe("the security cases", () => {
  it("leave areas to others that are not about permissions", async () => {
    assert.equal(await judgeCase(parseCase({ id: "X", area: "sandbox", given: {}, input: "", expected: "deny" })), undefined);
    assert.throws(() => parseCase({ id: "X" }), { code: "usage" });
  });

  it("count on writes that replace a file and leave its other names alone", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-hard-link-")));
    const workspace = createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") });
    try {
      writeFileSync(join(folder, "other"), "theirs");
      linkSync(join(folder, "other"), join(folder, "new.txt"));
      await workspace.writeFile("new.txt", "ours");
      assert.equal(readFileSync(join(folder, "other"), "utf8"), "theirs");
    } finally {
      await workspace.close();
      rmSync(folder, { recursive: true });
    }
  });
});
