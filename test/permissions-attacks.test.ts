import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import { createGround } from "./command-ground.ts";

type Attacks = { readonly code: string[]; readonly outside: string[]; readonly hostile: string[]; readonly edits: string[] };

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/command-attacks.json");
const attacks = JSON.parse(readFileSync(file, "utf8")) as Attacks; // our own file
const plain = createGround();
const hostile = createGround({ hostile: true });
after(() => {
  for (const ground of [plain, hostile]) ground.remove();
});

async function letThrough(commands: readonly string[], ground: typeof plain, given: Partial<Policy>): Promise<string[]> {
  const through: string[] = [];
  for (const command of commands) if ((await ground.judge(command, given)).effect === "allow") through.push(command);
  return through;
}

describe("nothing runs unasked", () => {
  for (const mode of ["default", "plan"] as const) {
    it(`that would run code, in mode ${mode}`, async () => {
      assert.deepEqual(await letThrough(attacks.code, plain, { mode, networkReads: true }), []);
    });
    it(`that reads outside the project, in mode ${mode}`, async () => {
      assert.deepEqual(await letThrough(attacks.outside, plain, { mode, networkReads: true }), []);
      assert.deepEqual(await letThrough(attacks.outside, hostile, { mode }), []);
    });
    it(`that reads through the links of a project, in mode ${mode}`, async () => {
      assert.deepEqual(await letThrough(attacks.hostile, hostile, { mode }), []);
    });
  }

  it("that writes outside, or after the line has moved what a path means", async () => {
    assert.deepEqual(await letThrough(attacks.edits, hostile, { mode: "acceptEdits" }), []);
    assert.deepEqual(await letThrough([...attacks.code, ...attacks.outside], plain, { mode: "acceptEdits" }), []);
  });

  it("by a name that leads to a program of the project", async () => {
    const programs = { place: async () => "project", isShadowed: async () => true } as const;
    const given = { programs: { ...programs, place: async (): Promise<"project"> => "project" } };
    assert.deepEqual(await letThrough(["ls", "node --version", "timeout 5 cat a", "x --help"], plain, given), []);
  });
});
