import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { builtinStyles, findStyle, loadOutputStyles } from "./output-styles.ts";

let top = "";
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "outrider-styles-"));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function write(folder: string, name: string, text: string): string {
  mkdirSync(join(top, folder), { recursive: true });
  writeFileSync(join(top, folder, name), text);
  return join(top, folder);
}

describe("styles of answers in files", () => {
  it("have the name of their file or their own, and say what stays of our words", async () => {
    write("a", "plain.md", "Be plain.\n");
    write("a", "notes.txt", "no style");
    const path = write(
      "a",
      "b.md",
      "---\nname: ' Terse '\ndescription: 'few\n  words'\nkeep-coding-instructions: true\nforce-for-plugin: true\n---\nShort.",
    );
    const { styles, warnings } = await loadOutputStyles([{ path }]);
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      styles.map(({ path: _, ...style }) => style),
      [
        { name: "Terse", description: "few words", text: "Short.", keepsCoding: true, isForced: false },
        { name: "plain", description: "", text: "Be plain.", keepsCoding: false, isForced: false },
      ],
    );
    assert.equal(styles[1]?.path, join(path, "plain.md"));
  });

  it("without a usable name go by their file; those of a bundle begin with its name and may force themselves", async () => {
    const path = write("p", "x.md", "---\nname: '  '\nforce-for-plugin: true\n---\nX");
    write("p", "y.md", "---\nname: 7\n---\nY");
    const { styles } = await loadOutputStyles([{ path, plugin: "house" }]);
    assert.deepEqual(
      styles.map(({ name, isForced }) => [name, isForced]),
      [
        ["house:x", true],
        ["house:y", false],
      ],
    );
  });

  it("the first of a name counts, a wrong file is told, a missing folder is none, and links do not lead out", async () => {
    const [near, far] = [write("near", "s.md", "near"), write("far", "s.md", "far")];
    write("far", "broken.md", '---\nname: "a\n---\n');
    write("outside", "o.md", "secret");
    symlinkSync(join(top, "outside/o.md"), join(far, "o.md"));
    const { styles, warnings } = await loadOutputStyles([
      { path: join(top, "none") },
      { path: near },
      { path: far, within: far },
    ]);
    assert.deepEqual(
      styles.map(({ name, text }) => [name, text]),
      [["s", "near"]],
    );
    assert.equal(warnings.length, 2);
    assert.match(warnings.join("\n"), /broken\.md.*the style was left out/);
    assert.match(warnings.join("\n"), /o\.md was left out: /);
  });

  it("are no more than 200 of a folder", async () => {
    let path = "";
    for (let at = 0; at < 205; at++) path = write("many", `s${String(at).padStart(3, "0")}.md`, "x");
    const { styles } = await loadOutputStyles([{ path }]);
    assert.deepEqual([styles.length, styles[0]?.name, styles.at(-1)?.name], [200, "s000", "s199"]);
  });
});

describe("a style that is asked for", () => {
  const style = (name: string) => ({ name, description: "", text: name, keepsCoding: false, isForced: false });

  it("is the one as written, else in any case, the user's before ours", () => {
    const own = [style("concise"), style("LOUD"), style("loud")];
    assert.equal(findStyle(own, "loud")?.text, "loud");
    assert.equal(findStyle(own, "Loud")?.text, "LOUD");
    assert.equal(findStyle(own, "concise"), own[0]);
    assert.equal(findStyle([], "concise")?.name, "Concise");
    assert.equal(findStyle(own, "default"), undefined);
  });

  it("of ours keeps how to work on code, and names itself", () => {
    assert.deepEqual(
      builtinStyles.map(({ name, keepsCoding, isForced, path }) => [name, keepsCoding, isForced, path]),
      ["Concise", "Explanatory", "Learning", "Proactive"].map((name) => [name, true, false, undefined]),
    );
    for (const { name, text } of builtinStyles) assert.ok(text.startsWith(`# Style of answers: ${name}\n`));
  });
});
