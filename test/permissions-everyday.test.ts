import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { ProgramFinder } from "../packages/runtime/src/permissions/program-finder.ts";
import { createGround } from "./support/command-ground.ts";
import { itHolds } from "./support/it-holds.ts";

type Everyday = { readonly unasked: string[]; readonly network: string[]; readonly asked: string[] };

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/everyday-commands.json");
const everyday = JSON.parse(readFileSync(file, "utf8")) as Everyday; // our own file
const ground = createGround();
after(() => ground.remove());
/** Everyday programs, wherever the test runs. */
const programs: ProgramFinder = { place: async () => "other", isShadowed: async () => false };

/** Each needs a question, or none does. */
function itJudges(fact: string, commands: readonly string[], wanted: { asks: boolean; networkReads: boolean }): void {
  itHolds(fact, commands, async (command) => {
    const { effect, reason } = await ground.judge(command, { networkReads: wanted.networkReads, programs });
    return (effect !== "allow") === wanted.asks ? undefined : `${command}: ${effect}, ${reason}`;
  });
}

describe("everyday commands", () => {
  it("are many", () => {
    assert.ok(everyday.unasked.length >= 120, `${everyday.unasked.length}`);
  });
  itJudges("that look at the project run without a question", everyday.unasked, { asks: false, networkReads: false });
  itJudges("that ask others on the network are asked about", everyday.network, { asks: true, networkReads: false });
  itJudges("that ask others on the network run where the settings let them", everyday.network, {
    asks: false,
    networkReads: true,
  });
  itJudges("that do more are asked about", everyday.asked, { asks: true, networkReads: true });
});
