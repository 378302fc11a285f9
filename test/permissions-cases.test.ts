import assert from "node:assert/strict";
import { linkSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isAsExpected, judgeCase, parseCase } from "../packages/runtime/src/permissions/judge-case.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const cases = readFileSync(join(root, "test/fixtures/security-cases.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => parseCase(JSON.parse(line)));

/** Cases that cannot be decided without running something, each with its reason. */
const notExpressed: Readonly<Record<string, string>> = {};

describe("the security cases", () => {
  it("are all decided as they should be", async () => {
    const judged = cases.filter(({ id }) => !(id in notExpressed));
    const verdicts = await Promise.all(judged.map(judgeCase));
    assert.deepEqual(
      { judged: judged.length, different: verdicts.filter((verdict) => !verdict || !isAsExpected(verdict)) },
      { judged: 151, different: [] },
    );
  });

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
