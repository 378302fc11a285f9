import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { permissionModes } from "../packages/runtime/src/protocol/permission.ts";
import { acceptInputs, healNearMisses, healRecorded, runRecordedLooks, runUnasked } from "./support/replayed-calls.ts";

describe("calls as real models send them", () => {
  it("are taken as they are or understood", async () => {
    const { calls, accepted, refused } = await acceptInputs();
    assert.equal(calls, 35_535);
    assert.deepEqual([accepted, refused], [calls, []]);
  });

  it("run unasked where they only look, in every mode, and else only where the mode says so", async () => {
    const { looking, doing } = await runUnasked(process.env["OUTRIDER_ROOT"] ?? process.cwd());
    for (const mode of permissionModes) assert.ok(looking[mode] >= 0.98, `${mode}: ${looking[mode]}`);
    assert.deepEqual([doing.default, doing.dontAsk, doing.plan, doing.bypassPermissions], [0, 0, 0, 1]);
    assert.equal(doing.acceptEdits, 0, "builds, tests and git are no changes of files");
  });

  it("run unasked in mode default where they only look at the project, each counted as often as it was recorded", async () => {
    const { calls, unasked, asked } = await runRecordedLooks();
    assert.equal(calls, 3_696);
    assert.ok(unasked / calls >= 0.98, asked.join("\n"));
  });

  it("that fail to find their text are mended where only one place can be meant, and never elsewhere", () => {
    assert.deepEqual(healRecorded(), {
      tab: { tried: 53, healed: 53, wrong: 0 },
      trimmed: { tried: 6, healed: 6, wrong: 0 },
      absent: { tried: 29, healed: 0, wrong: 0 },
    });
    const { healed, wrong } = healNearMisses(3_000, 1);
    assert.ok(healed > 100, `${healed}`);
    assert.equal(wrong, 0);
  });
});
