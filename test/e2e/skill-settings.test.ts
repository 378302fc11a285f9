import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines } from "./command.ts";
import { initOf, place, stream } from "./skill-ground.ts";

const skill = (description: string, body: string, more = ""): string => `---\ndescription: ${description}\n${more}---\n${body}`;
const four = Object.fromEntries(
  ["alpha", "beta", "gamma", "delta"].map((name) => [
    `home/.claude/skills/${name}/SKILL.md`,
    skill(`FX about ${name}`, `FX ${name}`),
  ]),
);

describe("what settings make of skills", () => {
  it("switches them off, keeps them for people, or tells the model their names alone", async () => {
    const skillOverrides = { alpha: "off", beta: "user-invocable-only", gamma: "name-only", delta: "on" };
    const { outrider, asked } = await place({ ...four, "home/.outrider/settings.json": JSON.stringify({ skillOverrides }) });
    const ended = await outrider(["-p", "hi", ...stream]);
    const { slash_commands: typed, skills } = initOf(ended.stdout) as Record<string, string[]>;
    assert.deepEqual(typed?.slice(0, 3), ["beta", "delta", "gamma"]);
    assert.deepEqual(skills, ["beta", "delta", "gamma"]);
    const told = JSON.stringify(asked(0).system);
    assert.match(told, /- delta: FX about delta\\n- gamma(?:\\n|")/);
    assert.doesNotMatch(told, /alpha|beta/);
  });

  it("lets a project nobody trusts only take away", async () => {
    const { outrider, asked } = await place({
      ...four,
      "home/.outrider/settings.json": JSON.stringify({ skillOverrides: { alpha: "off" } }),
      "project/.outrider/settings.json": JSON.stringify({ skillOverrides: { alpha: "on", beta: "off" } }),
    });
    await outrider(["-p", "hi"]);
    const told = JSON.stringify(asked(0).system);
    assert.doesNotMatch(told, /FX about (?:alpha|beta)/);
    assert.match(told, /FX about gamma/);
  });

  it("cuts what is said about them", async () => {
    const wordy = { "home/.claude/skills/long/SKILL.md": skill("x".repeat(400), "FX") };
    const short = await place({ ...wordy, "home/.outrider/settings.json": JSON.stringify({ skillListingMaxDescChars: 40 }) });
    await short.outrider(["-p", "hi"]);
    assert.match(JSON.stringify(short.asked(0).system), /- long: x{40}(?:\\n|")/);
    const none = await place({
      ...wordy,
      "home/.outrider/settings.json": JSON.stringify({ skillListingBudgetFraction: 0.0002 }),
    });
    await none.outrider(["-p", "hi"]);
    assert.match(JSON.stringify(none.asked(0).system), /- long(?:\\n|")/);
  });

  it("keeps their commands from running, also in plugins", async () => {
    const body = skill("FX runs", "before\n!`touch made.txt`\nafter", "allowed-tools: Bash(touch *)\n");
    const { outrider, asked, cwd } = await place(
      {
        "home/.outrider/settings.json": JSON.stringify({ disableSkillShellExecution: true }),
        "home/.claude/skills/runs/SKILL.md": body,
        "plug/skills/runs/SKILL.md": body,
      },
      [{ text: "1" }, { text: "2" }],
    );
    await outrider(["-p", "/runs"]);
    await outrider(["-p", "/plug:runs", "--plugin-dir", join(cwd, "../plug")]);
    for (const at of [0, 1])
      assert.match(JSON.stringify(asked(at).messages), /before\\n\[shell command execution disabled by policy\]\\nafter/);
    assert.equal(existsSync(join(cwd, "made.txt")), false);
  });
});

describe("a skill that a model uses again", () => {
  it("is not told a second time while its text still stands, and is when its arguments change it", async () => {
    const use = (args?: string) => ({
      calls: [{ name: "Skill", input: { skill: "alpha", ...(args !== undefined && { args }) } }],
    });
    const files = { "home/.claude/skills/alpha/SKILL.md": skill("FX", "FX BODY $ARGUMENTS") };
    const { outrider, asked } = await place(files, [use("one"), use("one"), use("two"), { text: "done" }]);
    const ended = await outrider(["-p", "go", ...stream]);
    const texts = JSON.stringify(asked(3).messages);
    assert.equal(texts.match(/FX BODY one/g)?.length, 1);
    assert.equal(texts.match(/FX BODY two/g)?.length, 1);
    assert.match(texts, /Skill \/alpha is already loaded above; instructions unchanged\. Arguments: one/);
    assert.equal(lines(ended.stdout).filter(({ isSynthetic }) => isSynthetic === true).length, 2);
  });
});
