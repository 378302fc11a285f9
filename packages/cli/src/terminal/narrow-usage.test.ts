import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { narrowUsage } from "./narrow-usage.ts";

const usage = `Usage:
  outrider init [--ci github|gitlab|none] [--dry-run] [--json] [--cwd DIR]
                                          write AGENTS.md and settings based on the project, and
                                          ask no questions
    --ci PLATFORM                         the platform of the CI job
    --all                short
`;

describe("a usage text", () => {
  it("stays as it is where there is room", () => {
    assert.equal(narrowUsage(usage, 120), usage);
  });

  it("says below an entry what it means where there is none, and loses no word", () => {
    const narrow = narrowUsage(usage, 40);
    assert.equal(
      narrow,
      `Usage:
  outrider init
      [--ci github|gitlab|none]
      [--dry-run] [--json] [--cwd DIR]
      write AGENTS.md and settings based
      on the project, and ask no
      questions
    --ci PLATFORM
      the platform of the CI job
    --all                short
`,
    );
    assert.deepEqual(narrow.split(/\s+/), usage.split(/\s+/));
  });
});
