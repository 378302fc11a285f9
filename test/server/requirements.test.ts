import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { doors } from "./doors.ts";
import { promises } from "./promises.ts";

type Requirement = { readonly id: string; readonly text: string; readonly [transport: string]: string };

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const read = (name: string): string => readFileSync(join(root, "test/server", name), "utf8");
const { transports, requirements } = JSON.parse(read("requirements.json")) as {
  transports: string[];
  requirements: Requirement[];
};

/** `here`: it is played over that transport. Else a line names the test that shows it, or says after `no:` why there is none. */
describe("what the server promises, on each transport", () => {
  for (const requirement of requirements)
    it(`${requirement.id}: ${requirement.text}`, () => {
      assert.deepEqual(Object.keys(requirement), ["id", "text", ...transports]);
      const proofs = transports.map((transport) => requirement[transport] ?? "");
      for (const proof of proofs) {
        if (proof === "here") continue;
        const [file = "", title = ""] = proof.split(/: (.*)/s);
        if (file === "no") assert.ok(title.length > 10, `${requirement.id} says no without a reason`);
        else assert.ok(hasTest(read(file), title), `${requirement.id}: ${file} has no test "${title}"`);
      }
      assert.ok(
        proofs.some((proof) => !proof.startsWith("no: ")),
        `${requirement.id} is shown nowhere`,
      );
    });

  for (const { id, text, ...proofs } of requirements)
    for (const door of doors.filter(({ name }) => proofs[name] === "here"))
      it(`${id} over ${door.name}: ${text}`, async () => {
        await (promises[id] ?? assert.fail(`nothing plays ${id}`))(door);
      });

  it("is played over all that there is, and has nothing that is not played", () => {
    assert.deepEqual(
      doors.map(({ name }) => name),
      transports,
    );
    const here = requirements.filter((requirement) => transports.every((transport) => requirement[transport] === "here"));
    assert.deepEqual(here.map(({ id }) => id).sort(), Object.keys(promises).sort());
  });

  it("has each line once", () => {
    const ids = requirements.map(({ id }) => id);
    assert.deepEqual([...new Set(ids)], ids);
  });
});

/** A test of exactly this title that is not skipped. */
function hasTest(source: string, title: string): boolean {
  return ['"', "`"].some((quote) => source.includes(`it(${quote}${title}${quote}, `));
}
