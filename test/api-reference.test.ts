import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();

describe("the API reference", () => {
  it("is what the declarations of the last build say", () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/generate-api.mjs"), "--check"], {
      encoding: "utf8",
    });
    assert.deepEqual([status, stderr], [0, ""]);
  });

  it("has what a class inherits from one without a published name", () => {
    const index = readFileSync(join(root, "docs/api/index.md"), "utf8");
    assert.match(index, /### InteractiveSession\n[\s\S]*?submit\(/);
  });

  for (const part of ["host", "admin"])
    it(`and the declarations say that ${part} is unstable`, () => {
      for (const file of [`docs/api/${part}.md`, `packages/runtime/dist/types/exports/${part}.d.ts`])
        assert.match(readFileSync(join(root, file), "utf8").slice(0, 200), /Unstable: names here change/, file);
    });
});
