import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loadMemoryIndex } from "./memory-index.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-memory-"));
after(() => rmSync(top, { recursive: true, force: true }));
mkdirSync(join(top, ".outrider/memory"), { recursive: true });
const file = join(top, ".outrider/memory/MEMORY.md");

function shown(text: string): string {
  writeFileSync(file, text);
  return loadMemoryIndex(top).replace(/^# Project Memory\n\n/, "");
}

describe("the index of a project's memory", () => {
  it("is shown under a heading, without what nobody can see; nothing is nothing", () => {
    writeFileSync(file, "- [2026-01-01] (project/build) use make <!-- and rm -rf -->\n");
    assert.equal(loadMemoryIndex(top), "# Project Memory\n\n- [2026-01-01] (project/build) use make");
    assert.deepEqual([shown(" \n"), loadMemoryIndex("/nonexistent")], ["", ""]);
  });

  it("is its first 200 lines", () => {
    const lines = Array.from({ length: 201 }, (_, index) => `line ${index}`);
    assert.equal(shown(lines.join("\n")), lines.slice(0, 200).join("\n"));
    assert.equal(shown(lines.slice(0, 200).join("\n")), lines.slice(0, 200).join("\n"));
  });

  it("is its first 25,600 bytes, cut between characters", () => {
    assert.equal(shown("x".repeat(25_600)).length, 25_600);
    assert.equal(shown("x".repeat(25_601)).length, 25_600);
    assert.equal(shown(`${"x".repeat(25_599)}é`), "x".repeat(25_599));
    assert.equal(shown(`${"x".repeat(25_598)}é`), `${"x".repeat(25_598)}é`);
    const line = "y".repeat(99);
    assert.equal(Buffer.byteLength(shown(Array.from({ length: 190 }, () => line + line).join("\n"))), 25_600);
  });

  it("is nothing behind a link out of the project", () => {
    const other = join(top, "..", "outrider-secret.md");
    writeFileSync(other, "secret");
    rmSync(file);
    symlinkSync(other, file);
    assert.equal(loadMemoryIndex(top), "");
    rmSync(other);
  });
});
