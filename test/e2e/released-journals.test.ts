import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";

const folder = join(projectRoot, "test/fixtures/journals");
const versions = readdirSync(folder).map((name) => name.replace(/\.jsonl$/, ""));
const matrix = readFileSync(join(projectRoot, "docs/versioning.md"), "utf8");

/** Each is the session of a released command: one prompt, a file that is read, an answer. */
describe("journals of released versions", () => {
  for (const version of versions)
    it(`${version}: is listed, shown, made a page of, and gone on with`, async () => {
      const home = tempFolder("journal");
      const stored = readFileSync(join(folder, `${version}.jsonl`), "utf8");
      const id = String(lines(stored)[0]?.["sessionId"]);
      mkdirSync(join(home, "sessions"));
      copyFileSync(join(folder, `${version}.jsonl`), join(home, "sessions", `${id}.jsonl`));
      const { env, server } = await model([{ text: "Still heron." }], home);
      const cwd = tempFolder("project");

      const shown = await run(["sessions", "show", id], { env, cwd });
      assert.equal(shown.code, 0, shown.stderr);
      assert.match(shown.stdout, /What do the notes say\?/);
      const report = await run(["report", id, "-o", "-"], { env, cwd });
      assert.match(report.stdout, /It says heron\./);

      const next = await run(["-p", "And now?", "--resume", id, "--output-format", "json"], { env, cwd });
      assert.deepEqual([next.code, lines(next.stdout)[0]?.["result"]], [0, "Still heron."], next.stderr);
      const sent = JSON.stringify(server.requests[0]?.body);
      for (const words of ["What do the notes say?", "The word is heron.", "It says heron.", "And now?"])
        assert.ok(sent.includes(words), words);
      const after = readFileSync(join(home, "sessions", `${id}.jsonl`), "utf8");
      assert.ok(after.startsWith(stored), "what was written stays as it was");
    });

  it("are all in the table of the documentation", () => {
    assert.ok(versions.length > 0);
    for (const version of versions) assert.ok(matrix.includes(`\n| ${version} |`), version);
  });
});
