import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type AgentPlaces, loadAgentFiles } from "./agent-files.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-agents-"));
after(() => rmSync(top, { recursive: true, force: true }));

let places = 0;

/** A project and a home with these files. */
function place(files: Record<string, string>): AgentPlaces {
  const folder = join(top, String(places++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  mkdirSync(join(folder, "project"), { recursive: true });
  return { root: join(folder, "project"), outriderHome: join(folder, "outrider"), userHome: join(folder, "home"), trusted: true };
}

const agent = (head: string, body = "Work."): string => `---\n${head}\n---\n${body}\n`;

describe("loadAgentFiles", () => {
  it("reads those of the project before those of the user, and ours before Claude Code's", async () => {
    const at = place({
      "project/.claude/agents/a.md": agent("name: a\ndescription: project, claude"),
      "project/.outrider/agents/a.md": agent("name: a\ndescription: project, outrider"),
      "project/.agents/agents/d.md": agent("description: project, agents"),
      "home/.claude/agents/a.md": agent("name: a\ndescription: user, claude"),
      "home/.claude/agents/b.md": agent("name: b\ndescription: user, claude"),
      "outrider/agents/b.md": agent("name: b\ndescription: user, outrider"),
      "outrider/agents/notes.txt": "nothing",
    });
    const { agents, warnings, ignored } = await loadAgentFiles(at);
    assert.deepEqual(
      agents.map(({ name, description }) => [name, description]),
      [
        ["a", "project, outrider"],
        ["d", "project, agents"],
        ["b", "user, outrider"],
      ],
    );
    assert.deepEqual([warnings, ignored], [[], []]);
  });

  it("reads those in folders of their own too, which are no part of their names; not behind links, not without end", async () => {
    const at = place({
      "project/.claude/agents/a.md": agent("name: a\ndescription: above"),
      "project/.claude/agents/Web/a.md": agent("name: a\ndescription: below"),
      "project/.claude/agents/Web/ui/forms.md": agent("description: forms"),
      "project/.claude/agents/x.md/inner.md": agent("description: inner"),
      "home/.claude/agents/team/b.md": agent("name: b\ndescription: of the user"),
      "elsewhere/c.md": agent("name: c\ndescription: elsewhere"),
      "project/.claude/agents/1/2/3/4/5/6/7/8/deep.md": agent("description: deep"),
    });
    symlinkSync(join(at.root, "../elsewhere"), join(at.root, ".claude/agents/linked"));
    symlinkSync("..", join(at.root, ".claude/agents/Web/loop"));
    const { agents, warnings } = await loadAgentFiles(at);
    assert.deepEqual(
      agents.map(({ name, description }) => [name, description]),
      [
        ["a", "above"],
        ["forms", "forms"],
        ["inner", "inner"],
        ["b", "of the user"],
      ],
    );
    assert.deepEqual(warnings, []);
  });

  it("takes every field of the head, and the rest as the prompt", async () => {
    const head =
      "name: reviewer\ndescription: |\n  Reviews.\n  Twice.\ntools: Read, Grep\nmodel: opus\nmaxTurns: 4\npermissionMode: plan";
    const at = place({ "project/.claude/agents/r.md": agent(head, "You review.\n\n<!-- not for you -->Be kind.") });
    assert.deepEqual((await loadAgentFiles(at)).agents, [
      {
        name: "reviewer",
        description: "Reviews.\nTwice.\n",
        prompt: "You review.\n\nBe kind.",
        tools: ["Read", "Grep"],
        model: "opus",
        maxTurns: 4,
        permissionMode: "plan",
        source: join(at.root, ".claude/agents/r.md"),
      },
    ]);
  });

  it("understands a description with colons in it, which is no YAML", async () => {
    const head = 'name: r\ndescription: Use it when: asked. Examples:\\n<example>user: "hi"</example> # always\ntools: ["Read"]';
    const at = place({ "home/.claude/agents/r.md": agent(head) });
    const { agents, warnings } = await loadAgentFiles(at);
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      [agents[0]?.description, agents[0]?.tools],
      ['Use it when: asked. Examples:\n<example>user: "hi"</example> # always', ["Read"]],
    );
  });

  it("leaves out what is wrong, and says which file and why", async () => {
    const at = place({
      "project/.claude/agents/1.md": "no head at all",
      "project/.claude/agents/2.md": agent('description: "unclosed'),
      "project/.claude/agents/3.md": agent("description: x\nmaxTurns: many"),
      "project/.claude/agents/4.md": agent("description: x", " "),
      "project/.claude/agents/5.md": agent("description: x\nname: [a]"),
      "project/.claude/agents/6.md": agent("description: x\nobserver: critic"),
      "project/.claude/agents/7.md": `${agent("description: x")}${"y".repeat(70_000)}`,
      "project/.claude/agents/8.md": agent("description: x\nisolation: remote"),
    });
    symlinkSync(join(at.userHome ?? "", "secret.md"), join(at.root, ".claude/agents/9.md"));
    mkdirSync(at.userHome ?? "", { recursive: true });
    writeFileSync(join(at.userHome ?? "", "secret.md"), agent("description: x"));
    const { agents, warnings } = await loadAgentFiles(at);
    assert.deepEqual(
      agents.map(({ name }) => name),
      ["6"],
    );
    assert.deepEqual(
      warnings.map((warning) => warning.slice(0, ".claude/agents/1.md".length)),
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `.claude/agents/${number}.md`),
    );
    assert.match(warnings[1] ?? "", /^\.claude\/agents\/2\.md, line \d: /);
    assert.match(warnings.at(-1) ?? "", /leads out of the project/);
  });

  it("takes from a project nobody trusts only words: no model, no mode, nobody else's name", async () => {
    const at = place({
      "project/.claude/agents/a.md": agent("description: theirs\nmodel: opus\npermissionMode: bypassPermissions\ntools: Read"),
      "project/.claude/agents/b.md": agent("description: theirs"),
      "project/.claude/agents/general-purpose.md": agent("description: theirs"),
      "outrider/agents/b.md": agent("description: mine\nmodel: haiku"),
    });
    const { agents, ignored } = await loadAgentFiles({ ...at, trusted: false });
    assert.deepEqual(
      agents.map(({ name, description, model, permissionMode, tools }) => [name, description, model, permissionMode, tools]),
      [
        ["a", "theirs", undefined, undefined, ["Read"]],
        ["b", "mine", "haiku", undefined, undefined],
      ],
    );
    assert.equal(ignored.length, 4);
  });

  it("finds nothing where there is nothing", async () => {
    assert.deepEqual(
      await loadAgentFiles({ root: join(top, "nowhere"), outriderHome: undefined, userHome: undefined, trusted: true }),
      {
        agents: [],
        warnings: [],
        ignored: [],
      },
    );
  });
});
