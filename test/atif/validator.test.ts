import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isIsoTime } from "../../packages/runtime/src/transports/atif/check/iso-time.ts";
import { validateTrajectory } from "../../packages/runtime/src/transports/atif/check/validate.ts";
import { casesFolder, loadCases, loadReference } from "./reference.ts";

const reference = await loadReference();
const modes = ["strict", "harbor"] as const;
const exists = (path: string): boolean => existsSync(isAbsolute(path) ? path : join(casesFolder, path));
const places = (problems: readonly { path: string; rule: string }[]): string[] =>
  [...new Set(problems.map(({ path, rule }) => `${path} ${rule}`))].sort();

describe("validateTrajectory", () => {
  it("has an example for each of 43 rules", () => {
    assert.equal(loadCases().length, 43);
  });

  for (const { name, value } of loadCases()) {
    it(`finds in ${name} what the reference finds`, () => {
      for (const mode of modes) {
        const ours = validateTrajectory(value, { mode, exists });
        const theirs = reference(value, { mode, dir: casesFolder });
        assert.deepEqual(
          { mode, ok: ours.ok, problems: places(ours.problems), warnings: places(ours.warnings) },
          { mode, ok: theirs.ok, problems: places(theirs.errors), warnings: places(theirs.warnings) },
        );
      }
      // Harbor does not care which version a field came with; the newest one knows them all.
      const harbor = validateTrajectory(value, {
        mode: "harbor",
        version: name.includes("audio-in-v1.7") ? "1.7" : "1.8",
        exists,
      }).ok;
      const newestMisses = name.includes("session-id-missing-v1.6"); // it was required only then
      assert.equal(harbor, !name.startsWith("invalid") || newestMisses);
      assert.equal(validateTrajectory(value, { exists }).ok, name.startsWith("valid"));
    });
  }

  it("agrees with the reference on documents that were damaged at random", () => {
    const cases = loadCases().map(({ value }) => value);
    const odd = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        "",
        "x",
        "1",
        "2.0",
        "yes",
        -1,
        0,
        1,
        2,
        2.5,
        true,
        false,
        [],
        {},
        [null],
        [{}],
        "2026-01-01T10:00:00",
        "ATIF-v1.6",
      ),
      fc.constantFrom<unknown>(
        [{ type: "text", text: "t" }],
        [{ type: "audio", source: { media_type: "audio/mp3", path: "a" } }],
        { results: [{}] },
      ),
    );
    const names = fc.constantFrom(
      "message",
      "extra",
      "llm_call_count",
      "trajectory_id",
      "notes",
      "content",
      "source",
      "path",
      "novel",
      "schema_version",
    );
    const damage = fc.record({
      pick: fc.nat(),
      key: fc.nat(),
      how: fc.constantFrom("set", "delete", "add"),
      value: odd,
      name: names,
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...cases),
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...modes),
        (value, steps, mode) => {
          const damaged: unknown = steps.reduce<unknown>((document, step) => applyDamage(document, step), structuredClone(value));
          const ours = validateTrajectory(damaged, { mode });
          const theirs = reference(damaged, { mode });
          assert.equal(ours.ok, theirs.ok, JSON.stringify(damaged));
          // Ours may see more at once: the reference does not look further at a source without a type.
          const missed = places(theirs.errors).filter((place) => !places(ours.problems).includes(place));
          assert.deepEqual(missed, [], JSON.stringify(damaged));
          return true;
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => typeof validateTrajectory(value, { exists: () => false }).ok === "boolean"),
      { numRuns: 500 },
    );
    let nested: Record<string, unknown> = {};
    for (let depth = 0; depth < 5000; depth++) nested = { subagent_trajectories: [nested] };
    assert.equal(validateTrajectory(nested).ok, false);
  });

  it("checks as another version when it is told to", () => {
    const value = loadCases().find(({ name }) => name === "valid-minimal.json")?.value;
    assert.equal(validateTrajectory(value, { version: "1.8" }).ok, true);
    assert.deepEqual(
      places(validateTrajectory(value, { version: "1.4" }).problems).includes("trajectory.schema_version schema-version"),
      true,
    );
  });
});

describe("isIsoTime", () => {
  it("takes what Python takes", () => {
    const yes = [
      "2026-01-01",
      "20260101",
      "2026-W05",
      "2026-W05-2",
      "2026W052",
      "2026-01-01T10",
      "2026-01-01 10:00",
      "2026-01-01T10:00:00.123456Z",
      "20260101T100000+0100",
      "2024-02-29",
    ];
    const no = [
      "",
      "yesterday",
      "2026-13-01",
      "2026-02-29",
      "2026-W54",
      "2026-W052",
      "2026-01-01T25:00",
      "2026-01-01T10:60",
      "2026-01-01T10:00+24:00",
      "2026-01-01T",
      "26-01-01",
    ];
    assert.deepEqual([...yes, ...no].filter(isIsoTime), yes);
  });
});

type Damage = { pick: number; key: number; how: string; value: unknown; name: string };

/** Changes one place in a document: which one depends on the numbers alone, so that a failure can be repeated. */
function applyDamage(document: unknown, { pick, key, how, value, name }: Damage): unknown {
  const holders: Record<string, unknown>[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    holders.push(node as Record<string, unknown>); // arrays too: their indexes are keys
    for (const child of Object.values(node)) walk(child);
  };
  walk(document);
  const holder = holders[pick % Math.max(1, holders.length)];
  if (!holder) return document;
  const keys = Object.keys(holder);
  const chosen = keys[key % Math.max(1, keys.length)];
  if (how === "add" && !Array.isArray(holder)) holder[name] = structuredClone(value);
  else if (how === "delete" && chosen !== undefined && !Array.isArray(holder)) delete holder[chosen];
  else if (chosen !== undefined) holder[chosen] = structuredClone(value);
  return document;
}
