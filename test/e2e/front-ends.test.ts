import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
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
  /** How often the model was asked; once more than there are calls, if nothing else is said. */
  readonly requests?: number;
};

const touch = (name: string) => ({ name: "Bash", input: { command: `touch ${name}` } });
const everything = join(projectRoot, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const server = { command: process.execPath, args: [everything, "stdio"] };
const echo = { name: "mcp__s__echo", input: { message: "hello" } };
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
        put(join(home, "settings.json"), given.user ?? {});
        put(join(cwd, ".outrider/settings.json"), given.project);
        for (const [path, text] of Object.entries(given.files ?? {})) put(join(cwd, path), text);
        const replies: ModelServerOptions["replies"] = [...given.calls.map((call) => ({ calls: [call] })), { text: "done" }];
        const { server: asked, env } = await model(replies, home);
        await open({ cwd, home, env: { ...env, ...given.env } });
        assert.equal(asked.requests.length, given.requests ?? given.calls.length + 1);
        const last = JSON.stringify(asked.requests.at(-1)?.body);
        assert.deepEqual(results(asked.requests.at(-1)?.body), given.ran);
        for (const words of given.said ?? []) assert.ok(last.includes(words), words);
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
