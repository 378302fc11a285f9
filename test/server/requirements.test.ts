import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

type Requirement = { readonly id: string; readonly text: string; readonly [transport: string]: string };

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const read = (name: string): string => readFileSync(join(root, "test/server", name), "utf8");
const { transports, requirements } = JSON.parse(read("requirements.json")) as {
  transports: string[];
  requirements: Requirement[];
};

/** Each line names the test that shows it on each transport, or says after `no:` why there is none. */
describe("what the server promises, on each transport", () => {
  for (const requirement of requirements)
    it(`${requirement.id}: ${requirement.text}`, () => {
      assert.deepEqual(Object.keys(requirement), ["id", "text", ...transports]);
      const proofs = transports.map((transport) => requirement[transport] ?? "");
      for (const proof of proofs) {
        const [file = "", title = ""] = proof.split(/: (.*)/s);
        if (file === "no") assert.ok(title.length > 10, `${requirement.id} says no without a reason`);
        else assert.ok(hasTest(read(file), title), `${requirement.id}: ${file} has no test "${title}"`);
      }
      assert.ok(
        proofs.some((proof) => !proof.startsWith("no: ")),
        `${requirement.id} is shown nowhere`,
      );
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
