import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { healEdit } from "./heal-edit.ts";
import { replaceRanges, replaceText } from "./text-edit.ts";

const healed = (text: string, oldText: string, newText: string): string | undefined => {
  const found = healEdit(text, { oldText, newText });
  return found && replaceRanges(text, [found], found.newText);
};

describe("an edit that does not fit letter by letter", () => {
  it("takes the line break with it only where the file has one there", () => {
    assert.deepEqual(
      [
        healed("\ta\n\tb", "a\n  b\n", "a\n"),
        healed("\ta1\n\tb1\nc", "  a1\n  b1\n", ""),
        healed("\ta1\nc", "  a1", "  a2\n"),
        healed("  one\n\n  two\n", "one\n\t\ntwo\n", "one\n\n3\n"),
      ],
      ["\ta", "c", "\ta2\n\nc", "  one\n\n  3\n"],
    );
  });

  it("gives up on texts that would take too long to compare", () => {
    const many = (count: number): string => "same line\n".repeat(count);
    const began = process.cpuUsage().user;
    assert.equal(healed(`${many(20_000)}end`, `${many(9_000)} other`, "x"), undefined);
    assert.ok(process.cpuUsage().user - began < 5_000_000);
  });

  it("does nothing where the result would be what is there", () => {
    assert.equal(healed("‘a’ b\n", "'a' b", "‘a’ b"), undefined);
  });
});

describe("a heal", () => {
  const words = fc.constantFrom("a", "b", "return 1;", "if (x) {", "}", "", "say 'x'", "say ‘x’", "x — y");
  const indent = fc.constantFrom("", "\t", "\t\t", "  ", "    ", "      ", "\t ");
  const line = fc
    .tuple(indent, words, fc.constantFrom("", "", "", " ", "\t"))
    .map(([before, word, after]) => before + word + after);
  const file = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 14 }),
    ending: fc.constantFrom("\n", "\r\n"),
    last: fc.boolean(),
  });
  const step = fc.constantFrom("\t", "  ", "    ");

  /** What models do to the lines they copy. */
  const slips: Record<string, (line: string, step: string) => string> = {
    "a step too few": (line, step) => (line.startsWith(step) ? line.slice(step.length) : line),
    "a step too many": (line, step) => (line.trim() ? step + line : line),
    "no white space around lines": (line) => line.trim(),
    "no white space at the end": (line) => line.trimEnd(),
    "spaces for tabs": (line, step) => line.replace(/^\t+/, (tabs) => (step === "\t" ? "    " : step).repeat(tabs.length)),
    "tabs for spaces": (line, step) =>
      line.replace(/^ +/, (spaces) => "\t".repeat(Math.floor(spaces.length / Math.max(step.length, 2)))),
    "plain marks": (line) => line.replace(/[‘’]/g, "'").replaceAll("—", "-"),
  };

  it("is never made in another place than the one that was copied, and changes nothing but the line that was to change", () => {
    let made = 0;
    fc.assert(
      fc.property(
        file,
        fc.constantFrom(...Object.keys(slips)),
        step,
        fc.nat(),
        fc.nat(),
        fc.nat(),
        (parts, slip, unit, a, b, c) => {
          const { lines, ending, last } = parts;
          const text = lines.join(ending) + (last ? ending : "");
          const start = a % lines.length;
          const count = 1 + (b % (lines.length - start));
          const changed = c % count;
          const copied = lines.slice(start, start + count).map((copy) => slips[slip]?.(copy, unit) ?? copy);
          const oldText = copied.join("\n");
          const fresh = copied.map((copy, index) => (index === changed ? `${indentOf(copy)}CHANGED` : copy)).join("\n");
          if (copied[changed]?.trim() === "" || replaceText(text, { oldText, newText: fresh, all: false }).type !== "missing")
            return;
          const result = healed(text, oldText, fresh);
          if (result === undefined) return;
          made++;
          const wanted = lines.map((own, index) => (index === start + changed ? `${indentOf(own)}CHANGED` : own));
          assert.equal(result, wanted.join(ending) + (last ? ending : ""));
        },
      ),
      { numRuns: Number(process.env["OUTRIDER_HEALS"] ?? 3000), seed: 14 },
    );
    assert.ok(made > 100, `only ${made} were healed`);
  });
});

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}
