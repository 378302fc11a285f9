import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, it } from "node:test";
import { type Files, journalOf, place, sessionId, textsOf } from "./skill-ground.ts";

const agent = (name: string, head: string, home = "home"): Files => ({
  [`${home}/.claude/agents/${name}.md`]: `---\nname: ${name}\ndescription: FX about ${name}\n${head}---\nFX AGENT\n`,
});
const hook = (event: string, command: string): string =>
  `hooks:\n  ${event}:\n    - matcher: ""\n      hooks:\n        - type: command\n          command: ${JSON.stringify(command)}\n`;
const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });
const task = (name: string) => ({
  calls: [{ name: "Task", input: { description: "d", prompt: "FX do it", subagent_type: name } }],
});
const read = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

describe("the hooks of an agent", () => {
  it("see its own calls and its end, and nothing of the conversation or of another agent", async () => {
    const files = {
      ...agent("strict", hook("PreToolUse", "echo call >> seen.txt") + hook("Stop", "echo end >> seen.txt").slice(7)),
    };
    const { outrider, cwd } = await place(files, [
      ...[bash("true"), task("strict"), bash("true"), { text: "found" }],
      ...[task("general-purpose"), bash("true"), { text: "found" }, bash("true"), { text: "done" }],
    ]);
    const { stderr } = await outrider(["-p", "go"]);
    assert.equal(read(join(cwd, "seen.txt")), "call\nend\n", stderr);
  });

  it("can forbid what it does", async () => {
    const { outrider, asked } = await place(agent("strict", hook("PreToolUse", "echo 'FX not today' >&2; exit 2")), [
      ...[task("strict"), bash("true"), { text: "found" }, { text: "done" }],
    ]);
    await outrider(["-p", "go"]);
    assert.match(JSON.stringify(asked(2).messages), /FX not today/);
  });

  it("are those of the conversation where that is the agent, with Stop as its end", async () => {
    const { outrider, cwd } = await place(agent("strict", hook("Stop", "echo end >> seen.txt")), [{ text: "done" }]);
    await outrider(["-p", "go", "--agent", "strict"]);
    assert.equal(read(join(cwd, "seen.txt")), "end\n");
  });

  it("keep the agent from beginning where they are wrongly written, and do not count in a project that nobody trusts", async () => {
    const { outrider, asked } = await place(agent("strict", "hooks:\n  PreToolUse: 7\n"), [task("strict"), { text: "done" }]);
    await outrider(["-p", "go"]);
    assert.match(JSON.stringify(asked(1).messages), /The agent strict cannot begin: .*strict\.md.*PreToolUse/);
    const project = await place(agent("strict", hook("PreToolUse", "touch seen.txt"), "project"), [
      ...[task("strict"), bash("true"), { text: "found" }, { text: "done" }],
    ]);
    const { stderr } = await project.outrider(["-p", "go"]);
    assert.equal(existsSync(join(project.cwd, "seen.txt")), false);
    assert.match(stderr, /hooks of the agent strict/);
  });
});

describe("the memory of an agent", () => {
  it("is a folder that it is told of with what MEMORY.md says, and adds the tools it takes", async () => {
    const { outrider, asked, cwd } = await place(agent("keeper", "memory: user\ntools: Grep\n"), [
      ...[task("keeper"), { text: "found" }, { text: "done" }],
    ]);
    const notes = join(cwd, "../home/.claude/agent-memory/keeper/MEMORY.md");
    mkdirSync(dirname(notes), { recursive: true });
    writeFileSync(notes, `FX FIRST\n${"line\n".repeat(300)}FX LAST\n`);
    await outrider(["-p", "go"]);
    const { system, tools } = asked(1);
    assert.match(
      JSON.stringify(system),
      /agent-memory\/keeper.*<memory>\\nFX FIRST\\n(?:line\\n){199}\[the rest is in the file\]/,
    );
    assert.doesNotMatch(JSON.stringify(system), /FX LAST/);
    assert.deepEqual((tools as { name: string }[]).map(({ name }) => name).sort(), [
      "Edit",
      "Grep",
      "NotebookEdit",
      "Read",
      "Write",
    ]);
  });

  it("does not count in a project that nobody trusts, nor do the tools it takes", async () => {
    const { outrider, asked } = await place(agent("keeper", "memory: user\ntools: Grep\n", "project"), [
      ...[task("keeper"), { text: "found" }, { text: "done" }],
    ]);
    const { stderr } = await outrider(["-p", "go"]);
    assert.match(stderr, /memory of the agent keeper/);
    assert.deepEqual(namesOf(asked(1)), ["Grep"]);
  });
});

describe("the tools of an agent", () => {
  it("are all there are for *, also where the conversation is the agent", async () => {
    const { outrider, asked } = await place(agent("able", 'tools: "*"\n'), [{ text: "done" }, { text: "done" }]);
    await outrider(["-p", "go", "--agent", "able"]);
    await outrider(["-p", "go"]);
    assert.deepEqual(namesOf(asked(0)), namesOf(asked(1)));
  });
});

const namesOf = ({ tools }: { readonly tools?: unknown }): string[] =>
  (tools as { name: string }[]).map(({ name }) => name).sort();

describe("writing to it", () => {
  it("is allowed by a rule, and asks for permission without one", async () => {
    const write = (folder: string) => ({
      calls: [{ name: "Write", input: { file_path: join(folder, "keeper/MEMORY.md"), content: "FX NOTED" } }],
    });
    const files = agent("keeper", "memory: user\n");
    for (const rule of [[], ["--allowed-tools", "Edit(~/.claude/agent-memory/**)"]]) {
      const { outrider, cwd } = await place(files, [
        ...[task("keeper"), (request: unknown) => write(folderIn(request)), { text: "found" }, { text: "done" }],
      ]);
      await outrider(["-p", "go", ...rule]);
      const notes = join(cwd, "../home/.claude/agent-memory/keeper/MEMORY.md");
      assert.equal(read(notes), rule.length > 0 ? "FX NOTED" : "");
    }
  });
});

/** The folder that the agent was told. */
function folderIn(request: unknown): string {
  return /in ([^ "]*agent-memory)\/keeper/.exec(JSON.stringify(request))?.[1] ?? "";
}

describe("the first words of an agent", () => {
  it("stand before the first prompt of a session that is this agent, and of no other", async () => {
    const { outrider, asked } = await place(agent("starter", "initialPrompt: FX look around first\n"), [
      ...[{ text: "1" }, { text: "2" }, task("starter"), { text: "found" }, { text: "3" }],
    ]);
    await outrider(["-p", "go", "--agent", "starter", "--session-id", sessionId]);
    assert.deepEqual(textsOf(asked(0)), ["FX look around first\n\ngo"]);
    await outrider(["-p", "more", "--agent", "starter", "--resume", sessionId]);
    assert.equal(JSON.stringify(asked(1).messages).match(/FX look around first/g)?.length, 1);
    await outrider(["-p", "go"]);
    assert.deepEqual(textsOf(asked(3)), ["FX do it"]);
  });
});

describe("servers of an agent's own", () => {
  const server = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const inline = `mcpServers:\n  - known\n  - own:\n      command: ${JSON.stringify(process.execPath)}\n      args: [${JSON.stringify(server)}, stdio]\ntools: Read\n`;
  const echo = { calls: [{ name: "mcp__own__echo", input: { message: "FX hello" } }] };

  it("are there for it alone, and end with it", async () => {
    const { outrider, asked, cwd } = await place(agent("caller", inline), [
      ...[task("caller"), echo, { text: "found" }, echo, { text: "done" }],
    ]);
    await outrider(["-p", "go", "--allowed-tools", "mcp__own", "--session-id", sessionId]);
    assert.match(JSON.stringify(asked(2).messages), /Echo: FX hello/);
    const offered = (at: number): string[] => (asked(at).tools as { name: string }[]).map(({ name }) => name);
    assert.equal(offered(0).includes("mcp__own__echo"), false);
    assert.equal(offered(1).includes("mcp__own__echo"), true);
    assert.equal(offered(1).includes("Bash"), false);
    assert.equal(offered(3).includes("mcp__own__echo"), false);
    const calls = journalOf(cwd).filter(({ type, name }) => type === "tool.ended" && name === "mcp__own__echo");
    assert.deepEqual(
      calls.map(({ status }) => status),
      ["ok", "error"],
    );
  });

  it("are the session's where the conversation is the agent, and start for no project that nobody trusts", async () => {
    const { outrider, asked } = await place(agent("caller", inline.replace("tools: Read\n", "")), [echo, { text: "done" }]);
    await outrider(["-p", "go", "--agent", "caller", "--allowed-tools", "mcp__own"]);
    assert.match(JSON.stringify(asked(1).messages), /Echo: FX hello/);
    const project = await place(agent("caller", inline, "project"), [task("caller"), { text: "found" }, { text: "done" }]);
    const { stderr } = await project.outrider(["-p", "go"]);
    assert.match(stderr, /mcpServers of the agent caller/);
    assert.doesNotMatch(JSON.stringify(project.asked(1).tools), /mcp__own/);
  });
});
