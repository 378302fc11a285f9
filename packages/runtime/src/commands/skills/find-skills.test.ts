import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { findSkills, readSkill, skillFolders } from "./find-skills.ts";
import { describeSkills } from "./describe-skills.ts";
import { offeredSkills, typedSkills } from "./listing.ts";
import type { FoundSkills } from "./skill.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-skills-")));
after(() => rmSync(top, { recursive: true, force: true }));
let count = 0;

/** Files of a home and a project; `cwd` is below the project. */
async function find(files: Readonly<Record<string, string | { link: string }>>, cwd = "project") {
  const place = join(top, String(++count));
  mkdirSync(join(place, cwd), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    if (typeof content === "string") writeFileSync(join(place, name), content);
    else symlinkSync(join(place, content.link), join(place, name));
  }
  const places = {
    cwd: join(place, cwd),
    root: join(place, "project"),
    outriderHome: join(place, "home/.outrider"),
    userHome: join(place, "home"),
  };
  const found = await findSkills(skillFolders({ ...places, scopes: ["user", "project"] }), places.root);
  return { place, ...found };
}

function whereOf({ skills, place }: FoundSkills & { place: string }): Record<string, string> {
  return Object.fromEntries(skills.map(({ name, path }) => [name, path.slice(place.length + 1)]));
}

describe("skills and commands in files", () => {
  it("are found in every place, and the first of a name counts", async () => {
    const head = "---\ndescription: d\n---\nb";
    const places = [
      "home/.outrider/skills/NAME/SKILL.md",
      "home/.claude/skills/NAME/SKILL.md",
      "project/sub/.outrider/skills/NAME/SKILL.md",
      "project/sub/.claude/skills/NAME/SKILL.md",
      "project/sub/.agents/skills/NAME/SKILL.md",
      "project/.outrider/skills/NAME/SKILL.md",
      "project/.claude/skills/NAME/SKILL.md",
      "project/.agents/skills/NAME/SKILL.md",
      "home/.outrider/commands/NAME.md",
      "home/.claude/commands/NAME.md",
      "project/sub/.outrider/commands/NAME.md",
      "project/sub/.claude/commands/NAME.md",
      "project/.outrider/commands/NAME.md",
      "project/.claude/commands/NAME.md",
    ];
    const files: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const [at, path] of places.entries()) {
      // s0 is in all of them, s1 in all but the first …
      for (const other of places.slice(at)) files[other.replace("NAME", `s${at}`)] = head;
      expected[`s${at}`] = path.replace("NAME", `s${at}`);
    }
    const found = await find(files, "project/sub");
    assert.deepEqual(whereOf(found), expected);
    assert.equal(found.warnings.length, Object.keys(files).length - places.length);
    assert.match(found.warnings[0] ?? "", /was left out: there is another \/s0, in .*home\/\.outrider\/skills\/s0\/SKILL\.md$/);
  });

  it("say about themselves what Claude Code's own do", async () => {
    const found = await find({
      "project/.claude/skills/labelled/SKILL.md": "---\nname: Pretty Label\ndescription: FX labelled\n---\nb\n",
      "project/.claude/skills/short/SKILL.md": "---\nname: short-label\ndescription: FX short\n---\nb\n",
      "project/.claude/skills/when/SKILL.md": "---\ndescription: FX desc\nwhen_to_use: FX when text\n---\nb\n",
      "project/.claude/skills/blocky/SKILL.md":
        "---\ndescription: >\n  FX folded line one\n  line two\nallowed-tools:\n  - Read\n  - Bash(echo *)\n---\nbody\n",
      "project/.claude/skills/nofm/SKILL.md": "# FX heading\n\nFX first paragraph here.\n",
      "project/.claude/skills/unknownkey/SKILL.md": "---\ndescription: FX unknown\nbanana: true\n---\nb\n",
      "project/.claude/skills/hiddenmodel/SKILL.md": "---\ndescription: FX h\ndisable-model-invocation: yes\n---\nb\n",
      "project/.claude/skills/hiddenuser/SKILL.md": "---\ndescription: FX hidden from user\nuser-invocable: no\n---\nb\n",
      "project/.claude/skills/pathy/SKILL.md": '---\ndescription: FX pathy\npaths: "*.ts"\n---\nb\n',
      "project/.claude/skills/empty/SKILL.md": "",
      "project/.claude/skills/nofile/other.md": "x",
      "project/.claude/skills/lower/skill.md": "---\ndescription: FX lowercase file\n---\nb\n",
      "project/.claude/skills/flat.md": "---\ndescription: FX flat file\n---\nb\n",
      "project/.claude/commands/cmdonly.md": "FX command body first line\nmore\n",
    });
    const typed = typedSkills(found.skills);
    assert.equal(
      describeSkills(offeredSkills(found.skills)),
      [
        "## Skills",
        "",
        "- blocky: FX folded line one line two",
        "- empty: Skill",
        "- hiddenuser: FX hidden from user",
        "- labelled: FX labelled",
        "- nofm: FX heading",
        "- short (short-label): FX short",
        "- unknownkey: FX unknown",
        "- when: FX desc - FX when text",
        "- cmdonly: FX command body first line",
      ].join("\n"),
    );
    assert.deepEqual(
      typed.map(({ name }) => name),
      ["blocky", "empty", "hiddenmodel", "labelled", "nofm", "short", "unknownkey", "when", "cmdonly"],
    );
    assert.deepEqual(
      typed.filter(({ hasHead }) => !hasHead).map(({ name }) => name),
      ["empty", "nofm", "cmdonly"],
    );
    assert.deepEqual(found.skills.find(({ name }) => name === "blocky")?.allowedTools, ["Read", "Bash(echo *)"]);
    assert.deepEqual(found.warnings, []);
  });

  it("have folders as parts of their names, and need no front matter", async () => {
    const found = await find({
      "project/.claude/commands/ns/deep/x.md": "FX DEEP",
      "project/.claude/commands/with space.md": "FX SPACE",
      "project/.claude/commands/notmd.txt": "FX TXT",
      "home/.claude/commands/ns/p.md": "FX PERSONAL NS",
    });
    assert.deepEqual(Object.keys(whereOf(found)).sort(), ["ns:deep:x", "ns:p", "with space"]);
  });

  it("are read whatever their lines end with, and a head that is no YAML costs its text nothing", async () => {
    const found = await find({
      "project/.claude/skills/crlf/SKILL.md":
        "\uFEFF---\r\ndescription: FX crlf\r\nallowed-tools: Read, Bash(git add *) Grep\r\n---\r\nbody\r\n",
      "project/.claude/skills/broken/SKILL.md": '---\ndescription: "a\n---\nFX broken body\n',
      "project/.claude/skills/colons/SKILL.md": "---\ndescription: FX use it when: always\nallowed-tools: [Read]\n---\nb\n",
      "project/.claude/skills/odd/SKILL.md": "---\ndescription: x\nuser-invocable: perhaps\nallowed-tools: {a: 1}\n---\nb\n",
      "project/.claude/skills/hidden/SKILL.md": "---\ndescription: a\u200Bb\n---\nb\n",
    });
    const of = (name: string) => found.skills.find((skill) => skill.name === name);
    assert.deepEqual([of("crlf")?.description, of("crlf")?.allowedTools], ["FX crlf", ["Read", "Bash(git add *)", "Grep"]]);
    assert.deepEqual([of("broken")?.description, of("broken")?.hasHead], ["FX broken body", false]);
    assert.equal(of("hidden")?.description, "ab");
    assert.deepEqual([of("colons")?.description, of("colons")?.allowedTools], ["FX use it when: always", ["Read"]]);
    assert.deepEqual(
      found.warnings.map((line) => line.replace(/, line \d.*;/, ";")),
      [
        ".claude/skills/broken/SKILL.md; what it says about itself was left out",
        "1 invisible characters were taken out of .claude/skills/hidden/SKILL.md",
        ".claude/skills/odd/SKILL.md: user-invocable should be true or false",
        ".claude/skills/odd/SKILL.md: allowed-tools should be a text or a list",
      ],
    );
  });

  it("do not lead out of the project, and are not too long", async () => {
    const found = await find({
      "elsewhere/SKILL.md": "---\ndescription: FX elsewhere\n---\nb",
      "project/.claude/skills/out": { link: "elsewhere" },
      "project/.claude/skills/long/SKILL.md": "x".repeat(1024 * 1024 + 1),
      "home/.claude/skills/mine": { link: "elsewhere" },
      "home/.claude/skills/again/SKILL.md": { link: "elsewhere/SKILL.md" },
      "project/shared.md": "---\ndescription: FX shared\n---\nb",
      "project/.claude/skills/inner/SKILL.md": { link: "project/shared.md" },
      "project/.claude/skills/outer/SKILL.md": { link: "elsewhere/SKILL.md" },
    });
    assert.deepEqual(
      found.skills.map(({ name, description }) => [name, description]),
      [
        ["again", "FX elsewhere"],
        ["inner", "FX shared"],
      ],
      "mine is the file of again",
    );
    assert.deepEqual(found.warnings, [
      ".claude/skills/long/SKILL.md was left out: it has 1048577 bytes, and may have 1048576",
      ".claude/skills/out/SKILL.md was left out: it leads out of the project",
      ".claude/skills/outer/SKILL.md was left out: it leads out of the project",
    ]);
  });

  it("are many without the prompt growing with them", async () => {
    const head = (at: number) => `---\ndescription: ${"word ".repeat(50)}${at}\n---\nbody`;
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`project/.claude/skills/s${at}/SKILL.md`, head(at)]),
    );
    const { skills } = await find(files);
    const listing = describeSkills(offeredSkills(skills));
    assert.equal(skills.length, 300);
    assert.ok(listing.length < 17_000, String(listing.length));
    assert.match(listing, /^- s99$/m);
  });

  it("are read again when they are used", async () => {
    const { skills, place } = await find({ "project/.claude/skills/one/SKILL.md": "---\ndescription: d\n---\nbefore" });
    const path = join(place, "project/.claude/skills/one/SKILL.md");
    writeFileSync(path, "---\ndescription: d\n---\nafterwards");
    const [one] = skills;
    assert.ok(one);
    assert.match(readSkill(one), /afterwards$/);
    rmSync(path);
    assert.throws(() => readSkill(one), { code: "config", message: /is not there any more/ });
  });
});
