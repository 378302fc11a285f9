import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { findSkills } from "./find-skills.ts";
import { SkillIndex } from "./skill-index.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-skill-index-")));
after(() => rmSync(top, { recursive: true, force: true }));
let count = 0;

/** A project with many skills, and a way to look for them with an index. */
function project(many = 120) {
  const root = join(top, String(++count));
  const file = join(root, "index.json");
  const write = (name: string, description: string): void => {
    const path = join(root, "skills", name, "SKILL.md");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `---\ndescription: ${description}\nallowed-tools: Read\n---\ntext`);
  };
  for (let n = 0; n < many; n++) write(`s${n}`, `number ${n}`);
  const find = async () => {
    const index = new SkillIndex(file);
    const folder = { path: join(root, "skills"), kind: "skill", scope: "project", within: root } as const;
    const found = await findSkills([folder], root, index);
    await index.save();
    return found;
  };
  return { root, file, write, find };
}

describe("an index of many skills", () => {
  it("answers what the files said, and what they say now where one has changed, come or gone", async () => {
    const { root, file, write, find } = project();
    const first = await find();
    assert.deepEqual(await find(), first);
    writeFileSync(file, readFileSync(file, "utf8").replace('"number 5"', '"from the index"'));
    const described = async (): Promise<Record<string, string>> =>
      Object.fromEntries((await find()).skills.map(({ name, description }) => [name, description]));
    assert.equal((await described())["s5"], "from the index");
    write("s5", "changed, and longer");
    write("more", "new");
    rmSync(join(root, "skills/s6"), { recursive: true });
    const now = await described();
    assert.deepEqual([now["s5"], now["more"], now["s6"], now["s7"]], ["changed, and longer", "new", undefined, "number 7"]);
  });

  it("counts for the file behind a link, and not for another one that takes its place", async () => {
    const { root, find } = project();
    const elsewhere = join(top, "elsewhere");
    mkdirSync(elsewhere, { recursive: true });
    writeFileSync(join(elsewhere, "SKILL.md"), "outside");
    await find();
    rmSync(join(root, "skills/s5"), { recursive: true });
    symlinkSync(elsewhere, join(root, "skills/s5"));
    const { skills, warnings } = await find();
    assert.equal(
      skills.some(({ name }) => name === "s5"),
      false,
    );
    assert.match(warnings.join(), /leads out of the project/);
  });

  it("is made anew when it cannot be used, and not at all for a few files", async () => {
    const { file, find } = project();
    for (const broken of ["{", '{"version":0,"entries":[]}', "[]"]) {
      writeFileSync(file, broken);
      assert.equal((await find()).skills.length, 120);
      assert.equal(JSON.parse(readFileSync(file, "utf8")).entries.length, 120);
    }
    const few = project(3);
    await few.find();
    assert.throws(() => readFileSync(few.file));
  });
});
