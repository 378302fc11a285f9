import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { ProgramFinder } from "../packages/runtime/src/permissions/program-finder.ts";
import { createGround } from "./command-ground.ts";

type Everyday = { readonly unasked: string[]; readonly network: string[]; readonly asked: string[] };

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/everyday-commands.json");
const everyday = JSON.parse(readFileSync(file, "utf8")) as Everyday; // our own file
const ground = createGround();
after(() => ground.remove());
/** Everyday programs, wherever the test runs. */
const programs: ProgramFinder = { place: async () => "other", isShadowed: async () => false };

async function askedAbout(commands: readonly string[], networkReads: boolean): Promise<string[]> {
  const asked: string[] = [];
  for (const command of commands) {
    const { effect, reason } = await ground.judge(command, { networkReads, programs });
    if (effect !== "allow") asked.push(`${command}: ${reason}`);
  }
  return asked;
}

describe("everyday commands", () => {
  it("that look at the project run without a question", async () => {
    assert.ok(everyday.unasked.length >= 120, `${everyday.unasked.length}`);
    assert.deepEqual(await askedAbout(everyday.unasked, false), []);
  });

  it("that ask others on the network are asked about, unless the settings let them", async () => {
    assert.equal((await askedAbout(everyday.network, false)).length, everyday.network.length);
    assert.deepEqual(await askedAbout(everyday.network, true), []);
  });

  it("that do more are asked about", async () => {
    assert.equal((await askedAbout(everyday.asked, true)).length, everyday.asked.length);
  });
});
