import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines } from "./command.ts";
import { type Files, journalOf, place, sessionId, stream, textsOf, userLine } from "./skill-ground.ts";

const skill = (name: string, head: string, body: string, home = "home"): Files => ({
  [`${home}/.claude/skills/${name}/SKILL.md`]: `---\ndescription: FX about ${name}\n${head}---\n${body}\n`,
});
/** A turn of its own each. */
const said = (...texts: string[]): string =>
  texts.map((text) => `${JSON.stringify({ ...JSON.parse(userLine(text)), priority: "later" })}\n`).join("");
const live = ["-p", ...stream, "--input-format", "stream-json"];
const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });

describe("the hooks of a skill", () => {
  const hook = (event: string, command: string, more = "") =>
    `hooks:\n  ${event}:\n    - matcher: ""\n      hooks:\n        - type: command\n          command: ${JSON.stringify(command)}\n${more}`;

  it("come with its first use, stay for the session, and know the folder of the skill", async () => {
    const files = {
      ...skill("strict", hook("PreToolUse", '"$CLAUDE_SKILL_DIR/deny.sh"'), "FX BODY"),
      "home/.claude/skills/strict/deny.sh": "#!/bin/sh\necho 'FX not today' >&2\nexit 2\n",
    };
    const replies = [bash("echo before"), { text: "1" }, bash("echo during"), { text: "2" }, bash("echo after"), { text: "3" }];
    const { outrider, asked, cwd } = await place(files, replies);
    chmodSync(join(cwd, "../home/.claude/skills/strict/deny.sh"), 0o755);
    await outrider(live, said("go", "/strict", "go on"));
    const sent = JSON.stringify(asked(5).messages);
    assert.match(sent, /before/);
    assert.equal(sent.match(/FX not today/g)?.length, 2);
  });

  it("run once where they say so, and count when the model uses the skill", async () => {
    const { outrider, cwd } = await place(
      skill("noting", hook("PostToolUse", "echo ran >> noted.txt", "          once: true\n"), "FX BODY"),
      [{ calls: [{ name: "Skill", input: { skill: "noting" } }] }, bash("true"), bash("echo 2"), { text: "done" }],
    );
    await outrider(["-p", "go"]);
    assert.equal(readFileSync(join(cwd, "noted.txt"), "utf8"), "ran\n");
  });

  it("do not count in a project that nobody trusts, which is told, and with disableAllHooks", async () => {
    const project = await place(skill("noting", hook("PostToolUse", "touch noted.txt"), "FX BODY", "project"), [
      bash("true"),
      { text: "done" },
    ]);
    const ended = await project.outrider(["-p", "/noting"]);
    assert.equal(existsSync(join(project.cwd, "noted.txt")), false);
    assert.match(ended.stderr, /the hooks of \/noting/);
    const off = await place(
      {
        ...skill("noting", hook("PostToolUse", "touch noted.txt"), "FX BODY"),
        "home/.outrider/settings.json": JSON.stringify({ disableAllHooks: true }),
      },
      [bash("true"), { text: "done" }],
    );
    await off.outrider(["-p", "/noting"]);
    assert.equal(existsSync(join(off.cwd, "noted.txt")), false);
  });

  it("that are wrongly written keep the skill from being used", async () => {
    const { outrider, server } = await place(skill("odd", "hooks:\n  PreToolUse: yes\n", "FX BODY"));
    const ended = await outrider(["-p", "/odd"]);
    assert.match(ended.stderr, /hooks\.PreToolUse must be a list/);
    assert.deepEqual([ended.code === 0, server.requests.length], [false, 0]);
  });
});

describe("a skill for some files", () => {
  it("is told when a file of its pattern is touched, once, and may be typed from then on", async () => {
    const read = { calls: [{ name: "Read", input: { file_path: "src/a.ts" } }] };
    const { outrider, asked } = await place(
      {
        ...skill("pathy", 'paths: "*.ts, docs/**"\n', "FX BODY"),
        ...skill("plain", "", "x"),
        "project/src/a.ts": "FX code",
        "project/b.txt": "FX words",
      },
      [{ calls: [{ name: "Read", input: { file_path: "b.txt" } }] }, read, read, { text: "1" }, { text: "2" }],
    );
    const ended = await outrider(live, said("go", "/pathy"));
    const frames = lines(ended.stdout);
    const inits = frames.filter(({ subtype }) => subtype === "init").map((frame) => frame["slash_commands"] as string[]);
    assert.deepEqual(
      inits.map((names) => names.includes("pathy")),
      [false, true],
    );
    const changed = frames.filter(({ subtype }) => subtype === "commands_changed");
    const names = changed.map(({ commands }) => (commands as { name: string }[]).map(({ name }) => name));
    assert.deepEqual([names.length, names[0]?.includes("pathy")], [1, true]);
    assert.doesNotMatch(JSON.stringify(asked(1).messages), /pathy/);
    assert.equal(JSON.stringify(asked(3).messages).match(/- pathy: FX about pathy/g)?.length, 1);
    assert.match(JSON.stringify(asked(4).messages), /FX BODY/);
  });

  it("of a folder below is told with the first file there, under its folder's name where another has its own", async () => {
    const { outrider, asked } = await place(
      {
        ...skill("deploy", "", "FX TOP", "project"),
        ...skill("deploy", "allowed-tools: Bash(touch *)\n", "FX BELOW !`touch made.txt`", "project/packages/web"),
        ...skill("only", "", "FX ONLY", "project/packages"),
        "project/packages/web/a.ts": "FX code",
      },
      [
        { calls: [{ name: "Read", input: { file_path: "packages/web/a.ts" } }] },
        { calls: [{ name: "Skill", input: { skill: "packages/web:deploy" } }] },
        { text: "1" },
        { text: "2" },
      ],
    );
    const ended = await outrider([...live, "--trust-project"], said("go", "/only"));
    assert.equal(ended.code, 0, ended.stderr);
    assert.doesNotMatch(JSON.stringify(asked(0)), /FX about only/);
    const told = JSON.stringify(asked(1).messages);
    assert.match(told, /- packages\/web:deploy: FX about deploy\\n- only: FX about only/);
    assert.match(JSON.stringify(asked(2).messages), /FX BELOW \[not run: the project is not trusted\]/);
    assert.match(JSON.stringify(asked(3).messages), /FX ONLY/);
  });

  it("is named with its file where there is no tool for skills", async () => {
    const { outrider, asked } = await place({ ...skill("only", "", "FX ONLY", "project/sub"), "project/sub/a.ts": "x" }, [
      { calls: [{ name: "Read", input: { file_path: "sub/a.ts" } }] },
      { text: "1" },
    ]);
    await outrider(["-p", "go"]);
    assert.match(
      JSON.stringify(asked(1).messages),
      /Read the file of one .*- only: FX about only \(.*sub\/\.claude\/skills\/only\/SKILL\.md\)/,
    );
  });
});

describe("an agent with skills", () => {
  it("knows their texts from its beginning, and runs nothing of them", async () => {
    const agent = "---\nname: auditor\ndescription: FX audits\nskills: audit, hidden, nosuch\n---\nFX AGENT";
    const { outrider, asked, cwd } = await place(
      {
        "home/.claude/agents/auditor.md": agent,
        ...skill("audit", "", `FX BODY in \${CLAUDE_SKILL_DIR} !\`touch made.txt\``),
        ...skill("hidden", "disable-model-invocation: true\n", "FX HIDDEN"),
      },
      [
        { calls: [{ name: "Task", input: { description: "d", prompt: "FX do it", subagent_type: "auditor" } }] },
        { text: "found" },
        { text: "done" },
      ],
    );
    const ended = await outrider(["-p", "go", "--session-id", sessionId]);
    const system = JSON.stringify(asked(1).system);
    assert.match(
      system,
      /FX AGENT.*# Skill audit\\n\\nBase directory for this skill: .*FX BODY in .*skills\/audit !`touch made\.txt`/,
    );
    assert.doesNotMatch(system, /FX HIDDEN/);
    assert.equal(existsSync(join(cwd, "made.txt")), false);
    assert.match(ended.stderr, /works without the skill hidden: models may not use it/);
    assert.match(ended.stderr, /works without the skill nosuch: there is none of that name/);
    const activated = journalOf(cwd).filter(({ type }) => type === "skill.activated");
    assert.deepEqual(
      activated.map(({ skillName, invocation, status }) => [skillName, invocation, status]),
      [["audit", "agent", "completed"]],
    );
    assert.deepEqual(textsOf(asked(1)), ["FX do it"]);
  });
});

describe("a skill in a conversation that was summarised", () => {
  it("is still told to the model, typed or used by it, as it was shown last", async () => {
    const long = { text: "word ".repeat(20_000) };
    const { outrider, asked } = await place({ ...skill("typed", "", "FX TYPED $0"), ...skill("used", "", "FX USED") }, [
      ...[{ text: "1" }, { text: "2" }, { calls: [{ name: "Skill", input: { skill: "used" } }] }, { text: "3" }],
      ...[long, long, { text: "FX SUMMARY" }, { text: "done" }],
    ]);
    await outrider(live, said("/typed one", "/typed two", "go", "more", "more", "/compact", "go on"));
    const sent = JSON.stringify(asked(7).messages);
    assert.match(sent, /FX SUMMARY/);
    assert.match(sent, /<skill name=\\"used\\">\\nBase directory.*?FX USED\\n\\n<\/skill>/);
    assert.match(sent, /<skill name=\\"typed\\">\\nBase directory.*?FX TYPED two\\n\\n<\/skill>/);
    assert.match(sent, /user: \\"\/typed one\\"\\nuser: \\"\/typed two\\"\\nuser: \\"go\\"/);
  });
});
