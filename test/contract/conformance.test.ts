import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { projectRoot } from "../e2e/command.ts";
import { refute, type Requirement } from "./requirement.ts";
import { type Played, play, type Scenario } from "./scenario.ts";

const read = (name: string): unknown => JSON.parse(readFileSync(join(projectRoot, "test/contract", name), "utf8"));
const scenarios = read("scenarios.json") as Readonly<Record<string, Scenario>>;
const lists = ["claude", "caliban", "robota"].map((flavor) => ({
  flavor,
  requirements: read(`${flavor}-requirements.json`) as Requirement[],
}));

for (const { flavor, requirements } of lists) {
  describe(`the conformance list of the flavour ${flavor}`, { concurrency: 2 }, () => {
    const played = new Map<string, Promise<Played>>();
    const transcriptOf = (name: string): Promise<Played> => {
      const scenario = scenarios[name];
      if (!scenario) throw new Error(`There is no scenario ${name}`);
      const run = played.get(name) ?? play(scenario, ["--flavor", flavor]);
      played.set(name, run);
      return run;
    };
    for (const { id, text, proofs } of requirements) {
      it(`${id}: ${text}`, async () => {
        const refuted: string[] = [];
        for (const proof of proofs) {
          const found = refute(proof, await transcriptOf(proof.scenario));
          refuted.push(...found.map((what) => `${proof.scenario}: ${what}`));
        }
        assert.deepEqual(refuted, []);
      });
    }

    it("has a proof for every line, and says in it what must hold", () => {
      for (const { id, proofs } of requirements) {
        assert.ok(proofs.length > 0, `${id} is proved by nothing`);
        for (const { scenario, ...claims } of proofs)
          assert.ok(Object.keys(claims).length > 0, `${id}: ${scenario} claims nothing`);
      }
      assert.equal(new Set(requirements.map(({ id }) => id)).size, requirements.length);
    });
  });
}

describe("the scenarios", () => {
  it("are all used", () => {
    const used = new Set(
      lists.flatMap(({ requirements }) => requirements.flatMap(({ proofs }) => proofs.map(({ scenario }) => scenario))),
    );
    assert.deepEqual(
      Object.keys(scenarios).filter((name) => !used.has(name)),
      [],
    );
  });
});
