import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { TestClient } from "./acp-client.ts";
import { model, projectRoot, run, tempFolder } from "./command.ts";
import { program } from "./program.ts";

type Ground = { readonly cwd: string; readonly home: string; readonly env: Record<string, string> };

/** Each runs one prompt in the folder, with nothing of its own to say about the session. */
const frontEnds: Readonly<Record<string, (ground: Ground) => Promise<void>>> = {
  async command({ cwd, env }) {
    await run(["-p", "go"], { cwd, env });
  },
  async live({ cwd, env }) {
    const line = JSON.stringify({
      type: "user",
      message: { role: "user", content: "go" },
      parent_tool_use_id: null,
      session_id: "",
    });
    await run(["-p", "--input-format", "stream-json", "--output-format", "stream-json"], { cwd, env, stdin: `${line}\n` });
  },
  async acp({ cwd, env }) {
    const client = new TestClient({ env, args: ["--permission-prompts", "none"] });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "go").catch(() => {}); // how it went is seen at the model
    await client.end();
  },
  async library(ground) {
    await program(
      `import { createAnthropicProvider, InteractiveSession } from "@outrider/runtime";
      const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL } = process.env;
      const session = new InteractiveSession({ cwd: process.cwd(), provider: createAnthropicProvider({ apiKey, baseURL }) });
      await session.submit("go");
      await session.shutdown();`,
      ground,
    );
  },
  async query(ground) {
    await program(
      `import { createAnthropicProvider, createQuery } from "@outrider/runtime";
      const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL } = process.env;
      await createQuery({ provider: createAnthropicProvider({ apiKey, baseURL }) }).result("go");`,
      ground,
    );
  },
  async host(ground) {
    await program(
      `import { SessionHost } from "@outrider/runtime";
      const host = new SessionHost();
      const { session } = await host.create();
      await session.submit("go");
      await host.shutdown();`,
      ground,
    );
  },
};

type Case = {
  readonly about: string;
  readonly user?: object;
  readonly project?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Record<string, string>;
  readonly calls: readonly { readonly name: string; readonly input: object }[];
  /** What became of each call. */
  readonly ran: readonly boolean[];
  /** Words that the model was given, anywhere in its requests. */
  readonly said?: readonly string[];
  /** Words that it was not given. */
  readonly unsaid?: readonly string[];
  /** How often the model was asked; once more than there are calls, if nothing else is said. */
  readonly requests?: number;
};

const touch = (name: string) => ({ name: "Bash", input: { command: `touch ${name}` } });
const everything = join(projectRoot, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const server = { command: process.execPath, args: [everything, "stdio"] };
const echo = { name: "mcp__s__echo", input: { message: "hello" } };
const beside = tempFolder("front-ends-beside");
const hook = (command: string) => [{ hooks: [{ type: "command", command }] }];

const cases: readonly Case[] = [
  {
    about: "the user's rules, and nobody to ask",
    user: { permissions: { allow: ["Bash(touch allowed.txt)"], deny: ["Bash(touch denied.txt)"] } },
    calls: [touch("allowed.txt"), touch("denied.txt"), touch("asked.txt")],
    ran: [true, false, false],
  },
  {
    about: "a project that nobody trusts may forbid and not allow, and runs nothing",
    user: { permissions: { allow: ["Bash(touch two.txt)"] } },
    project: {
      permissions: { allow: ["Bash(touch one.txt)"], deny: ["Bash(touch two.txt)"] },
      hooks: { UserPromptSubmit: hook("touch hooked.txt; echo from a hook") },
    },
    calls: [touch("one.txt"), touch("two.txt"), { name: "Bash", input: { command: "test -e hooked.txt" } }],
    ran: [false, false, false],
  },
  {
    about: "a project that is trusted",
    env: { OUTRIDER_TRUST_PROJECT: "1" },
    project: {
      permissions: { allow: ["Bash(touch:*)"] },
      hooks: {
        UserPromptSubmit: hook("echo words from a hook"),
        PreToolUse: [{ matcher: "Bash", ...hook("grep -q two.txt && exit 2; true")[0] }],
      },
    },
    calls: [touch("one.txt"), touch("two.txt")],
    ran: [true, false],
    said: ["words from a hook"],
  },
  {
    about: "instructions, language and agents",
    user: { language: "Latin" },
    files: {
      "AGENTS.md": "Always say please.",
      ".claude/agents/critic.md": "---\nname: critic\ndescription: Finds what is wrong.\n---\nYou find it.",
    },
    calls: [],
    ran: [],
    said: ["Always say please.", "Latin", "Finds what is wrong."],
  },
  {
    about: "the policies of MCP servers, over an allow rule",
    user: {
      permissions: { allow: ["mcp__s"] },
      mcpServers: { s: { ...server, tools: [{ name: "echo", permission_policy: "always_deny" }] } },
    },
    calls: [echo, { name: "mcp__s__get-sum", input: { a: 2, b: 3 } }],
    ran: [false, true],
  },
  {
    about: "how long MCP servers may take",
    env: { MCP_TIMEOUT: "1" },
    user: { permissions: { allow: ["mcp__s"] }, mcpServers: { s: server } },
    calls: [echo],
    ran: [false],
  },
  {
    about: "files that a rule hides, also from commands that would show them",
    user: { permissions: { deny: ["Read(./secret.txt)"] } },
    files: { "secret.txt": "the code is 4711", "open.txt": "nothing" },
    calls: [
      { name: "Read", input: { file_path: "secret.txt" } },
      { name: "Bash", input: { command: "cat secret.txt" } },
      { name: "Read", input: { file_path: "open.txt" } },
    ],
    ran: [false, false, true],
    unsaid: ["4711"],
  },
  {
    about: "the mode of the user's settings",
    user: { permissions: { defaultMode: "acceptEdits" } },
    calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" } }, touch("/etc/never.txt")],
    ran: [true, false],
  },
  {
    about: "a mode that a project nobody trusts would like",
    project: { permissions: { defaultMode: "acceptEdits" } },
    calls: [{ name: "Write", input: { file_path: "never.txt", content: "x" } }],
    ran: [false],
  },
  {
    about: "folders beside the project",
    user: { permissions: { defaultMode: "acceptEdits", additionalDirectories: [beside] } },
    calls: [
      { name: "Write", input: { file_path: join(beside, "a.txt"), content: "x" } },
      { name: "Write", input: { file_path: join(`${beside}-not`, "a.txt"), content: "x" } },
    ],
    ran: [true, false],
  },
  {
    about: "servers of a project that nobody trusts",
    user: { permissions: { allow: ["mcp__s"] } },
    files: { ".mcp.json": JSON.stringify({ mcpServers: { s: server } }) },
    calls: [echo],
    ran: [false],
  },
  {
    about: "servers of a project that is trusted",
    env: { OUTRIDER_TRUST_PROJECT: "1" },
    user: { permissions: { allow: ["mcp__s"] } },
    files: { ".mcp.json": JSON.stringify({ mcpServers: { s: server } }) },
    calls: [echo],
    ran: [true],
    said: ["Echo: hello"],
  },
  {
    about: "variables of settings, and no key of a model, for commands",
    user: { env: { WHO: "the owl" }, permissions: { allow: ["Bash(env:*)"] } },
    calls: [{ name: "Bash", input: { command: "env" } }],
    ran: [true],
    said: ["WHO=the owl"],
    unsaid: ["ANTHROPIC_API_KEY="],
  },
  {
    about: "a guard that hangs is given up after its time, and its call is refused",
    user: {
      permissions: { allow: ["Bash(touch:*)"] },
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "sleep 60", timeout: 1, guard: true }] }] },
    },
    calls: [touch("never.txt")],
    ran: [false],
  },
  {
    about: "hooks behind a call, and at the end of a turn",
    user: {
      permissions: { allow: ["Bash(true)"] },
      hooks: {
        PostToolUse: [{ matcher: "Bash", ...hook("echo look at the log >&2; exit 2")[0] }],
        Stop: hook("test -e once.txt && exit 0; touch once.txt; echo not before the tests ran >&2; exit 2"),
      },
    },
    calls: [{ name: "Bash", input: { command: "true" } }],
    ran: [true],
    said: ["look at the log", "not before the tests ran"],
    requests: 3,
  },
  {
    about: "skills, and what a session is told of them",
    files: { ".claude/skills/count/SKILL.md": "---\nname: count\ndescription: Counts birds.\n---\nCount them." },
    calls: [{ name: "Skill", input: { skill: "count" } }],
    ran: [true],
    said: ["Counts birds.", "Count them."],
  },
  {
    about: "limits of settings",
    user: { limits: { maxRequests: 2 }, permissions: { allow: ["Bash(true)"] } },
    calls: [{ name: "Bash", input: { command: "true" } }, touch("never.txt")],
    ran: [true],
    requests: 2,
  },
];

describe("every front end opens the same session", { timeout: 300_000 }, () => {
  for (const [name, open] of Object.entries(frontEnds))
    for (const given of cases)
      it(`${name}: ${given.about}`, async () => {
        const cwd = tempFolder("front-ends");
        const home = join(tempFolder("front-ends-home"), ".outrider");
        const put = (path: string, content: string | object | undefined): void => {
          if (content === undefined) return;
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
        };
        mkdirSync(join(cwd, ".git"));
        rmSync(join(beside, "a.txt"), { force: true });
        put(join(home, "settings.json"), given.user ?? {});
        put(join(cwd, ".outrider/settings.json"), given.project);
        for (const [path, text] of Object.entries(given.files ?? {})) put(join(cwd, path), text);
        const replies: ModelServerOptions["replies"] = [
          ...given.calls.map((call) => ({ calls: [call] })),
          { text: "done" },
          { text: "really done" },
        ];
        const { server: asked, env } = await model(replies, home);
        await open({ cwd, home, env: { ...env, ...given.env } });
        assert.equal(asked.requests.length, given.requests ?? given.calls.length + 1);
        const last = JSON.stringify(asked.requests.at(-1)?.body);
        assert.deepEqual(results(asked.requests.at(-1)?.body), given.ran);
        for (const words of given.said ?? []) assert.ok(last.includes(words), words);
        for (const words of given.unsaid ?? []) assert.ok(!last.includes(words), `${words} was said`);
        for (const file of ["denied.txt", "asked.txt", "two.txt", "hooked.txt", "never.txt"])
          assert.equal(existsSync(join(cwd, file)), false, file);
      });
});

/** Did the calls run? As the model was told. */
function results(body: unknown): boolean[] {
  const { messages = [] } = body as { messages?: { content: string | { type: string; is_error?: boolean }[] }[] };
  return messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result")
    .map((result) => !result.is_error);
}
