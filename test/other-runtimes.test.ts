import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const rows = [...readFileSync(join(root, "docs/other-runtimes.md"), "utf8").matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)]
  .map(([, there = "", here = "", shownBy = ""]) => ({ there, here, shownBy }))
  .filter(({ there }) => there !== "there" && !/^-+$/.test(there));
const api = join(root, "docs/api");
const names = new Set(
  readdirSync(api).flatMap((file) =>
    [...readFileSync(join(api, file), "utf8").matchAll(/^### (\w+)$/gm)].map(([, name]) => name),
  ),
);

/** Words in code marks that look like names of this library. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/`([A-Za-z]\w+)`/g)].flatMap(([, name = ""]) =>
    /^[a-z]+[A-Z]|^[A-Z][a-z]+[A-Z]/.test(name) ? [name] : [],
  );
}

/** Members and options, which have no entry of their own. */
const members = ["agentName", "listEditCheckpoints", "answerPermission", "webSearch", "additionalContext"];

describe("names of other runtimes", () => {
  it("are told of, each with what shows it or with what brings it", () => {
    assert.ok(rows.length > 25, `${rows.length} rows`);
    for (const { there, here, shownBy } of rows)
      assert.ok(shownBy !== "—" || /not yet: |not there|future there|comes with/.test(here), there);
  });

  it("lead to names that are published", () => {
    const published = rows.filter(({ here }) => !here.startsWith("not "));
    const missing = published.flatMap(({ here }) => namesIn(here)).filter((name) => !names.has(name) && !members.includes(name));
    assert.deepEqual(missing, []);
  });

  it("lead to files that are there", () => {
    const files = rows.flatMap(({ shownBy }) => [...shownBy.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path));
    assert.deepEqual(
      files.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });
});
