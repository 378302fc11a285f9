import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { bin, eventually, launcher, model, tempFolder } from "./command.ts";

type Era = "legacy" | "modern";
const eras: readonly Era[] = ["legacy", "modern"];

type Setting = {
  readonly era: Era;
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly args?: readonly string[];
  /** What the user of the client says to a question; a client without it cannot ask. */
  readonly decides?: (message: string) => string;
};

/** The official client and the built command at the other end of two pipes. */
async function connect({ era, env, cwd, args = [], decides }: Setting): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: decides ? { elicitation: { form: {} } } : {},
      ...(era === "modern" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    },
  );
  if (decides)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const decision = decides(params.message);
      return decision === "decline" ? { action: "decline" } : { action: "accept", content: { decision } };
    });
  const path = process.env["PATH"] ?? "";
  const transport = new StdioClientTransport({
    ...{ command: launcher, args: [bin, "mcp", "serve", ...args], cwd, stderr: "ignore" },
    env: { PATH: path, HOME: cwd, ...env },
  });
  await client.connect(transport);
  after(() => client.close());
  return client;
}

async function stage(replies: Parameters<typeof model>[0]) {
  const home = tempFolder("mcp-serve");
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const { server, env } = await model(replies, home);
  return { cwd, env, server };
}

const call = (client: Client, name: string, input: Record<string, unknown>, more: object = {}) =>
  client.callTool({ name, arguments: input }, more);
type Structured = { sessionId: string; state: string; text: string };
const structured = (result: { structuredContent?: unknown }): Structured => result.structuredContent as Structured;

const touch = { calls: [{ name: "Bash", input: { command: "touch made", description: "make a file" } }] };

for (const era of eras)
  describe(`outrider mcp serve, for a client of the ${era} era`, () => {
    it("runs an agent, goes on with its session, and tells how it goes", { timeout: 60_000 }, async () => {
      const { cwd, env, server } = await stage([
        { text: "Looking.", calls: [{ name: "Glob", input: { pattern: "*.none" } }] },
        { text: "Nothing there." },
        { text: "Still nothing." },
      ]);
      const client = await connect({ era, env, cwd });
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ["run", "reply", "status", "cancel"],
      );
      const told: string[] = [];
      const first = await call(
        client,
        "run",
        { prompt: "look" },
        { onprogress: ({ message }: { message?: string }) => told.push(message ?? "") },
      );
      assert.deepEqual(first.content, [{ type: "text", text: "Nothing there." }]);
      const { sessionId, state, text } = structured(first);
      assert.deepEqual([state, text, first.isError ?? false], ["completed", "Nothing there.", false]);
      assert.ok(told.includes("Looking.") && told.some((line) => line.includes("*.none")), told.join(" | "));
      const second = await call(client, "reply", { sessionId, prompt: "again" });
      assert.equal(structured(second).text, "Still nothing.");
      assert.match(JSON.stringify(server.requests.at(-1)), /look[\s\S]*again/);
      assert.deepEqual(structured(await call(client, "status", { sessionId })), {
        sessionId,
        state: "idle",
        text: "Still nothing.",
      });
      const listed = structured(await call(client, "status", {})) as unknown as { sessions: { sessionId: string }[] };
      assert.equal(listed.sessions[0]?.sessionId, sessionId);
    });

    it("offers sessions and trajectories as resources, and commands as prompts", { timeout: 60_000 }, async () => {
      const { cwd, env } = await stage([{ text: "Hello." }]);
      const client = await connect({ era, env, cwd });
      const { sessionId } = structured(await call(client, "run", { prompt: "hi there" }));
      const { resources } = await client.listResources();
      const uri = `outrider://sessions/${sessionId}`;
      assert.deepEqual(
        resources.map((resource) => resource.uri),
        [uri, `${uri}/trajectory`],
      );
      const read = async (what: string) => {
        const [content] = (await client.readResource({ uri: what })).contents;
        return JSON.parse(content && "text" in content ? content.text : "null");
      };
      assert.deepEqual(
        (await read(uri)).messages.map(({ role }: { role: string }) => role),
        ["user", "assistant"],
      );
      assert.match((await read(`${uri}/trajectory`)).schema_version, /^ATIF/);
      await assert.rejects(client.readResource({ uri: "outrider://sessions/odd" }));
      const { prompts } = await client.listPrompts();
      assert.ok(prompts.some(({ name }) => name === "compact"));
      const { messages } = await client.getPrompt({ name: "compact", arguments: { args: "the plan" } });
      assert.match(JSON.stringify(messages), /\/compact the plan/);
      await assert.rejects(client.getPrompt({ name: "odd" }), /There is no prompt odd/);
    });

    for (const [decision, isMade] of [
      ["allow", true],
      ["deny", false],
      ["decline", false],
    ] as const)
      it(`asks the client's user for permission: ${decision}`, { timeout: 60_000 }, async () => {
        const { cwd, env } = await stage([touch, touch, { text: "Done." }]);
        const asked: string[] = [];
        const decides = (message: string): string => {
          asked.push(message);
          return decision;
        };
        const client = await connect({ era, env, cwd, decides });
        const result = await call(client, "run", { prompt: "make it" });
        assert.equal(structured(result).state, "completed");
        assert.equal(asked.length, 2);
        assert.match(asked[0] ?? "", /Bash[\s\S]*touch made/);
        assert.equal(existsSync(join(cwd, "made")), isMade);
      });

    it("denies what would have to be asked where the client cannot ask", { timeout: 60_000 }, async () => {
      const { cwd, env, server } = await stage([touch, { text: "Then not." }]);
      const client = await connect({ era, env, cwd });
      assert.equal(structured(await call(client, "run", { prompt: "make it" })).text, "Then not.");
      assert.equal(existsSync(join(cwd, "made")), false);
      assert.match(JSON.stringify(server.requests.at(-1)), /cannot ask its user/);
    });

    it("goes on with the session of an earlier server", { timeout: 60_000 }, async () => {
      const { cwd, env, server } = await stage([{ text: "One." }, { text: "Two." }]);
      const first = await connect({ era, env, cwd });
      const { sessionId } = structured(await call(first, "run", { prompt: "remember the blue door" }));
      await first.close();
      const second = await connect({ era, env, cwd });
      assert.equal(structured(await call(second, "reply", { sessionId, prompt: "and?" })).text, "Two.");
      assert.match(JSON.stringify(server.requests.at(-1)), /blue door/);
    });

    it("lets a run go on by itself, and ends it when it is told to", { timeout: 60_000 }, async () => {
      const { cwd, env, server } = await stage([{ text: "Thinking", hang: true }, { text: "Awake." }]);
      const client = await connect({ era, env, cwd });
      const { sessionId, state } = structured(await call(client, "run", { prompt: "think", wait: false }));
      assert.equal(state, "running");
      assert.equal(structured(await call(client, "status", { sessionId })).state, "running");
      // A run that is cancelled before it has asked would leave the reply that hangs to the next prompt.
      await eventually(() => server.requests.length === 1, "the model to be asked");
      const waiting = call(client, "status", { sessionId, wait: true });
      assert.equal(structured(await call(client, "cancel", { sessionId })).state, "cancelled");
      assert.equal(structured(await waiting).state, "cancelled");
      assert.equal(structured(await call(client, "reply", { sessionId, prompt: "and now?" })).text, "Awake.");
    });

    const wrong: readonly [string, string, Record<string, unknown>, RegExp][] = [
      ["a tool nobody knows", "odd", {}, /There is no tool odd/],
      ["no prompt", "run", {}, /prompt is required/],
      ["a field nobody knows", "run", { prompt: "a", permissionMode: "bypassPermissions" }, /run takes no permissionMode/],
      ["a flag that is none", "run", { prompt: "a", wait: "no" }, /wait must be a boolean/],
      ["a folder outside", "run", { prompt: "a", cwd: "/usr" }, /not in \/usr/],
      ["a folder that is none", "run", { prompt: "a", cwd: "/odd" }, /is no directory/],
      ["a session nobody knows", "reply", { sessionId: "odd", prompt: "a" }, /There is no session odd/],
    ];
    it("says what is wrong with a call", { timeout: 60_000 }, async () => {
      const { cwd, env, server } = await stage([]);
      const client = await connect({ era, env, cwd });
      for (const [what, name, input, words] of wrong) {
        const { content, isError } = await call(client, name, input);
        assert.equal(isError, true, what);
        assert.match(JSON.stringify(content), words, what);
      }
      assert.equal(server.requests.length, 0);
    });
  });
