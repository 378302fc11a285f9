import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Ground } from "./ground.ts";

type Era = "legacy" | "modern";

/** The official client at `/mcp` of a server; with a decision, its user gives that to every question. */
async function connect(ground: Ground, token: string, { era = "modern" as Era, decision = "" } = {}): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: decision === "" ? {} : { elicitation: { form: {} } },
      ...(era === "modern" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    },
  );
  if (decision !== "") client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { decision } }));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${ground.url}/mcp`), { requestInit }));
  after(() => client.close());
  return client;
}

type Ran = { readonly sessionId: string; readonly state: string; readonly text: string };

describe("/mcp of the server", () => {
  for (const era of ["legacy", "modern"] as const)
    it(`runs an agent for the official client and goes on with it, in the ${era} era`, async () => {
      const ground = await new Ground([{ text: "One." }, { text: "Two." }]).start();
      const token = ground.token({ name: "mcp", scopes: ["drive"] });
      const client = await connect(ground, token, { era });
      const first = (await client.callTool({ name: "run", arguments: { prompt: "go" } })).structuredContent as Ran;
      const second = await client.callTool({ name: "reply", arguments: { prompt: "on", sessionId: first.sessionId } });
      assert.deepEqual([first.text, (second.structuredContent as Ran).text], ["One.", "Two."]);
      const shown = await ground.ask("GET", `/v1/sessions/${first.sessionId}/messages`, { token });
      assert.equal(shown.json.messages.length, 4);
    });

  it("asks whoever may approve, and does what was allowed", async () => {
    const ground = await new Ground([{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "Made." }]).start();
    const token = ground.token({ name: "mcp", scopes: ["drive", "approve"] });
    const client = await connect(ground, token, { decision: "allow" });
    const ran = (await client.callTool({ name: "run", arguments: { prompt: "go" } })).structuredContent as Ran;
    assert.deepEqual([ran.state, ran.text], ["completed", "Made."]);
    assert.ok(existsSync(join(ground.cwd, "made")));
  });

  it("does not ask who may not approve: somebody else does", async () => {
    const ground = await new Ground([{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "Made." }]).start();
    const token = ground.token({ name: "mcp", scopes: ["drive"] });
    const client = await connect(ground, token, { decision: "allow" });
    const begun = await client.callTool({ name: "run", arguments: { prompt: "go", wait: false } });
    const { sessionId } = begun.structuredContent as Ran;
    const watch = await ground.watch(`/v1/sessions/${sessionId}/events?after=0`);
    const { data } = await watch.untilType("permission.requested");
    const path = `/v1/sessions/${sessionId}/permissions/${data.requestId}`;
    assert.equal((await ground.ask("POST", path, { body: { decision: "allow" } })).status, 200);
    await watch.untilType("turn.ended");
    assert.ok(existsSync(join(ground.cwd, "made")));
    watch.leave();
  });

  for (const era of ["legacy", "modern"] as const)
    it(`tells how it goes while it goes, in the ${era} era`, async () => {
      const ground = await new Ground([
        { text: "I look.", calls: [{ name: "Glob", input: { pattern: "*" } }] },
        { text: "Seen." },
      ]).start();
      const client = await connect(ground, ground.token({ name: "mcp", scopes: ["drive"] }), { era });
      const told: (string | undefined)[] = [];
      const onprogress = ({ message }: { message?: string | undefined }): void => void told.push(message);
      await client.callTool({ name: "run", arguments: { prompt: "go" } }, { onprogress });
      assert.deepEqual(told, ["I look.", "Find *", "Seen."]);
    });

  for (const era of ["legacy", "modern"] as const)
    it(`ends the turn of a client that gives up, in the ${era} era, and nobody else's`, async () => {
      const ground = await new Ground([
        { text: "slow", delayMs: 60_000 },
        { text: "slow", delayMs: 60_000 },
      ]).start();
      const token = ground.token({ name: "mcp", scopes: ["drive"] });
      const [client, other] = [await connect(ground, token, { era }), await connect(ground, token, { era })];
      other.callTool({ name: "run", arguments: { prompt: "stay" } }).catch(() => {}); // the end of the test cuts it off
      const leaving = new AbortController();
      const run = assert.rejects(client.callTool({ name: "run", arguments: { prompt: "go" } }, { signal: leaving.signal }));
      const active = async (): Promise<string> => (await ground.ask("GET", "/metrics")).text;
      while (!/prompts_active 2/.test(await active())) await new Promise((resolve) => setImmediate(resolve));
      leaving.abort();
      await run;
      while (!/prompts_active 1/.test(await active())) await new Promise((resolve) => setImmediate(resolve));
      const { sessions } = (await ground.ask("GET", "/v1/sessions")).json;
      const session = sessions.find(({ prompt }: { prompt: string }) => prompt === "go");
      const watch = await ground.watch(`/v1/sessions/${session.id}/events?after=0`);
      assert.equal((await watch.untilType("turn.ended")).data.outcome.type, "cancelled");
      watch.leave();
    });

  it("takes no mode and no rules from a client", async () => {
    const ground = await new Ground([{ text: "Never." }]).start();
    const client = await connect(ground, ground.token({ name: "mcp", scopes: ["drive", "approve"] }));
    for (const wish of [{ permissionMode: "bypassPermissions" }, { mode: "acceptEdits" }, { allowedTools: ["Bash"] }]) {
      const refused = await client.callTool({ name: "run", arguments: { prompt: "go", ...wish } });
      assert.equal(refused.isError, true, JSON.stringify(wish));
    }
    assert.deepEqual((await ground.ask("GET", "/v1/sessions")).json.sessions, []);
  });

  it("is over with its token: a run that is waited for ends, and nothing more is taken", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const client = await connect(ground, ground.token({ name: "mcp", scopes: ["drive"] }));
    const run = client.callTool({ name: "run", arguments: { prompt: "go" } });
    const ended = assert.rejects(run);
    const active = async (): Promise<string> => (await ground.ask("GET", "/metrics")).text;
    while (!/prompts_active 1/.test(await active())) await new Promise((resolve) => setImmediate(resolve));
    ground.tokens.remove("mcp");
    await ended;
    await assert.rejects(client.callTool({ name: "status", arguments: {} }));
  });

  it("shows nobody another's sessions, keeps to roots and limits, and lets nobody in without a token", async () => {
    const ground = await new Ground([{ text: "One." }]).start();
    const [ann, bob] = ["ann", "bob"].map((name) => ground.token({ name, scopes: ["drive"], limits: { sessions: 1 } }));
    const hers = await connect(ground, ann ?? "");
    const { sessionId } = (await hers.callTool({ name: "run", arguments: { prompt: "go" } })).structuredContent as Ran;
    const his = await connect(ground, bob ?? "");
    for (const [name, args] of [
      ["reply", { sessionId, prompt: "x" }],
      ["status", { sessionId }],
      ["cancel", { sessionId }],
    ] as const)
      assert.equal((await his.callTool({ name, arguments: args })).isError, true, name);
    assert.deepEqual((await his.listResources()).resources, []);
    assert.equal((await hers.listResources()).resources.length, 2);
    await assert.rejects(his.readResource({ uri: `outrider://sessions/${sessionId}` }));
    const outside = await his.callTool({ name: "run", arguments: { prompt: "x", cwd: "/" } });
    assert.equal((outside.structuredContent as { error: { code: string } }).error.code, "forbidden");
    assert.equal(outside.isError, true);
    assert.equal((await hers.callTool({ name: "run", arguments: { prompt: "x" } })).isError, true);
    assert.equal((await ground.ask("POST", "/mcp", { token: null, body: {} })).status, 401);
    const viewer = ground.token({ name: "viewer", scopes: ["view"], of: ["ann"] });
    assert.equal((await ground.ask("POST", "/mcp", { token: viewer, body: {} })).status, 403);
    assert.equal((await ground.ask("POST", "/mcp", { body: {}, headers: { origin: "https://evil.example" } })).status, 403);
  });
});
