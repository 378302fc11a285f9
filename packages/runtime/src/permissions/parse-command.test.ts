import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { itHolds } from "../../../../test/support/it-holds.ts";
import { showCommand } from "../../../../test/support/show-command.ts";
import { parseCommand } from "./parse-command.ts";

const fixture = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/command-readings.json");
const facts = JSON.parse(readFileSync(fixture, "utf8")) as Record<string, Record<string, string>>; // our own file

describe("a command line is read as bash reads it", () => {
  for (const [fact, readings] of Object.entries(facts))
    itHolds(fact, Object.entries(readings), async ([command, reading]) => {
      const shown = showCommand(parseCommand(command));
      return shown === reading ? undefined : `${command}\n  is read as ${shown}\n  instead of ${reading}`;
    });
});

describe("a line that is too large is not read", () => {
  const nested = (before: string, inside: string, after: string, times: number): string =>
    before.repeat(times) + inside + after.repeat(times);
  /** Of 2,000 levels: 3 for the command, 3 a group, 1 a negation, 80 a program. */
  const deep = (negated: number): string =>
    nested("! { ", nested("{ ", `${"env ".repeat(23)}ls`, "; }", 25 - negated), "; }", negated);
  const rows: [name: string, largest: string, larger: string, reason: string][] = [
    ["characters", "a".repeat(100_000), "a".repeat(100_001), "it is longer than 100000 characters"],
    ["parentheses", nested("$(", "a", ")", 100), nested("$(", "a", ")", 101), "it is nested too deeply"],
    ["open parentheses", "()".repeat(200) + "(".repeat(100), `)(()${"(".repeat(100)}`, "it is nested too deeply"],
    ["programs", "ls\n".repeat(1_000), "ls\n".repeat(1_001), "it runs more than 1000 programs"],
    ["levels", deep(2), deep(3), "it is nested too deeply"],
  ];
  for (const [name, largest, larger, reason] of rows)
    it(`by its ${name}`, () => {
      assert.equal(parseCommand(largest).tooLarge, false);
      const { understood, tooLarge, reason: told } = parseCommand(larger);
      assert.deepEqual({ understood, tooLarge, told }, { understood: false, tooLarge: true, told: reason });
    });
});
