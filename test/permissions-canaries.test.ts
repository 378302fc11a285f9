import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { tryCommands } from "./support/canary-trials.ts";

/** Many more by hand: OUTRIDER_PROPERTY_COMMANDS=100000 npm test -- permissions-canaries. A failure names its seed. */
const count = Number(process.env["OUTRIDER_PROPERTY_COMMANDS"] ?? 2_500);
const seed = Number(process.env["OUTRIDER_PROPERTY_SEED"] ?? 20_261_116);
const canBox = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;

describe("what a decision lets run", () => {
  it("shows nothing from outside or that a rule protects, and runs and writes nothing it did not tell of", {
    timeout: 14_400_000,
    skip: process.platform !== "linux" || !canBox,
  }, async (test) => {
    const { problems, allowed, changing } = await tryCommands({ count, seed });
    assert.deepEqual(problems, [], `seed ${seed}`);
    test.diagnostic(`${count} commands, ${allowed} allowed, ${changing} of them change files`);
    // Asking about everything would pass, too.
    assert.ok(allowed > count * 0.05 && changing > count * 0.005, `${allowed} allowed, ${changing} change files`);
  });
});
