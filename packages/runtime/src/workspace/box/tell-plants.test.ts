import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { laterGroups } from "./later-files.ts";
import type { LaterFile, Plants } from "./plant-search.ts";
import { tellPlants } from "./tell-plants.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-tell-"));
after(() => rmSync(top, { recursive: true, force: true }));

const tell = (plants: Partial<Plants>, undone: readonly string[] = [], directory = join(top, "kept")): Promise<string> =>
  tellPlants({
    undone,
    plants: { undone: [], failed: [], listed: [], isWhole: true, ...plants },
    directory,
    setAside: "/aside",
  });
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `f${index}`);
const later = (count: number, group = 0): LaterFile[] => numbered(count).map((name) => ({ name, group }));

describe("what a command left behind, in words", () => {
  it("is nothing when there is nothing to tell", async () => {
    assert.equal(await tell({}), "");
  });

  it("names what was put back and where it is now, what could not be, and what was not looked at", async () => {
    assert.equal(
      await tell({ failed: ["/p/b"], isWhole: false, listed: [{ name: "Makefile", group: 0 }] }, ["/p/a"]),
      [
        "",
        "outrider: protected, and put back as before: /p/a",
        "(what was written there is in /aside)",
        "",
        "outrider: would run outside, and could not be put back: /p/b",
        "",
        "outrider: this command changed what programs outside run by themselves: Makefile",
        "",
        "outrider: there are too many directories here to look at all of them; what is in the deepest may run outside.",
        "",
      ].join("\n"),
    );
  });

  it("says how many more there are than it names", async () => {
    const of = async (count: number): Promise<string> => /before: (.*)/.exec(await tell({}, numbered(count)))?.[1] ?? "";
    assert.equal(await of(10), numbered(10).join(", "));
    assert.equal(await of(11), `${numbered(10).join(", ")} and 1 more`);
  });

  it("names ten files that run later, and more only by groups, with the whole list in a file", async () => {
    assert.match(await tell({ listed: later(10) }), /themselves: f0, f1, .*, f9\n$/);
    const files = [...later(6), ...later(5, 2).map((file) => ({ ...file, scripts: numbered(11) }))];
    const told = await tell({ listed: files });
    const [name = ""] = readdirSync(join(top, "kept"));
    const withScripts = `(scripts: ${numbered(10).join(", ")} and 1 more)`;
    assert.deepEqual(told.split("\n"), [
      "",
      "outrider: this command changed what programs outside run by themselves, 11 files:",
      `- ${laterGroups[0]?.title}: f0, f1, f2, f3, f4 and 1 more`,
      `- ${laterGroups[2]?.title}: ${numbered(5)
        .map((one) => `${one} ${withScripts}`)
        .join(", ")}`,
      `(all of them are listed in ${join(top, "kept", name)})`,
      "",
    ]);
    assert.equal(readFileSync(join(top, "kept", name), "utf8").split("\n").length, 12);
    assert.equal(statSync(join(top, "kept", name)).mode & 0o777, 0o600);
    assert.match(await tell({ listed: later(11) }), /\(all of them are listed in .*\)\n$/);
  });

  it("is told also where the list cannot be kept", async () => {
    writeFileSync(join(top, "file"), "");
    assert.match(await tell({ listed: later(11) }, [], join(top, "file")), /11 files:\n- [^\n]* and 6 more\n$/);
  });

  it("shows names that are long or pretend to be lines so that they do neither", async () => {
    const shown = async (name: string): Promise<string> =>
      /themselves: (.*)/s.exec(await tell({ listed: [{ name, group: 0 }] }))?.[1] ?? "";
    assert.equal(await shown("x\noutrider: \u2028\u202e"), "x\\u{a}outrider: \\u{2028}\\u{202e}\n");
    const long = `${"a".repeat(100)}${"b".repeat(100)}`;
    assert.equal(await shown(long), `${long}\n`);
    assert.equal(await shown(`${"a".repeat(100)}x${"b".repeat(100)}`), `${"a".repeat(100)}…${"b".repeat(100)}\n`);
  });
});
