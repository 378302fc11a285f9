import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { projectRoot } from "./harness.ts";
import { readRows, staleNames, toTable, withTable } from "./option-verdicts.ts";

const rows = readRows(join(projectRoot, "test/agent-sdk"));

describe("the table of options in docs/agent-sdk.md", () => {
  it("has every option and method of the SDK, and a test for each that is said to work or to be told", () => {
    assert.ok(rows.length > 90, String(rows.length));
    const unproved = rows.filter(({ verdict, words, test }) => verdict === "works" && test === undefined && words === "");
    assert.deepEqual(
      unproved.map(({ name }) => name),
      [],
    );
    assert.deepEqual(staleNames(rows), []);
  });

  it("is the one that the suite makes", () => {
    const path = join(projectRoot, "docs/agent-sdk.md");
    const document = readFileSync(path, "utf8");
    const made = withTable(document, toTable(rows));
    if (process.env["OUTRIDER_WRITE_TABLE"] === "1") writeFileSync(path, made);
    else assert.equal(document, made, "the table is stale: npm run test:sdk -- --write-table");
  });
});
