import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { surroundingsOf } from "../../hosting/surroundings.ts";
import { SessionHost } from "../../hosting/session-host.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { createMcpHost } from "./mcp-host.ts";
import { toAnswer, toElicitation } from "./permission-elicitation.ts";
import { createMcpEndpoint } from "./serve-mcp.ts";
import type { PermissionRequest } from "../../session/session-view.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-mcp-http-")));
after(() => rmSync(top, { recursive: true, force: true }));

/** The official client over streamable HTTP; what would go through a socket is handed over. */
async function connect(replies: readonly ScriptStep[], era: "legacy" | "modern", decision?: string) {
  const host = new SessionHost({
    around: surroundingsOf({ HOME: top, OUTRIDER_HOME: join(top, "home") }),
    defaults: { provider: createScriptedProvider(replies), bare: true },
  });
  const endpoint = createMcpEndpoint(createMcpHost({ host, cwd: top, version: "1.2.3" }));
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: decision === undefined ? {} : { elicitation: { form: {} } },
      ...(era === "modern" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    },
  );
  if (decision !== undefined) client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { decision } }));
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => endpoint.fetch(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch }));
  after(async () => {
    await client.close();
    await endpoint.close();
    await host.shutdown();
  });
  return client;
}

const write = { calls: [{ name: "Write", input: { file_path: join(top, "made.txt"), content: "x" } }] };

describe("the MCP server over HTTP", () => {
  for (const era of ["legacy", "modern"] as const)
    it(`runs an agent and goes on with it, in the ${era} era`, async () => {
      const client = await connect([{ text: "One." }, { text: "Two." }], era);
      assert.equal(client.getServerVersion()?.version, "1.2.3");
      const first = await client.callTool({ name: "run", arguments: { prompt: "go" } });
      const { sessionId } = first.structuredContent as { sessionId: string };
      const second = await client.callTool({ name: "reply", arguments: { prompt: "on", sessionId } });
      assert.deepEqual([first.content, second.content], [[{ type: "text", text: "One." }], [{ type: "text", text: "Two." }]]);
    });

  it("asks for permission over several requests, in the modern era", async () => {
    const client = await connect([write, { text: "Done." }], "modern", "allow");
    const { structuredContent } = await client.callTool({ name: "run", arguments: { prompt: "go" } });
    assert.equal((structuredContent as { state: string }).state, "completed");
    const { contents } = await client.readResource({
      uri: `outrider://sessions/${(structuredContent as { sessionId: string }).sessionId}`,
    });
    assert.match(JSON.stringify(contents), /made\.txt/);
  });

  it("may look and change nothing when it is told so", async () => {
    const client = await connect([write, { text: "I may not." }], "modern", "allow");
    const { content } = await client.callTool({ name: "run", arguments: { prompt: "go", readOnly: true } });
    assert.deepEqual(content, [{ type: "text", text: "I may not." }]);
  });
});

describe("a permission question as a form", () => {
  const question = { requestId: "q", toolCallId: "c", toolName: "Bash", input: { command: "ls" }, reason: "why" };
  const asked = (rule?: string) => toElicitation({ ...question, ...(rule && { rule }) } as unknown as PermissionRequest);

  it("offers a lasting yes only where there is a rule for it", () => {
    assert.deepEqual(asked().requestedSchema.properties.decision.enum, ["allow", "deny"]);
    assert.deepEqual(asked("Bash(ls)").requestedSchema.properties.decision.enum, [
      "allow",
      "allow-session",
      "allow-project",
      "deny",
    ]);
    assert.match(asked("Bash(ls)").message, /Bash needs permission: why[\s\S]*ls[\s\S]*all of: Bash\(ls\)/);
  });

  const no = { decision: "deny", message: "The user said no." };
  const cases: readonly [string, unknown, string | undefined, object][] = [
    ["a yes", { action: "accept", content: { decision: "allow" } }, undefined, { decision: "allow" }],
    [
      "a yes for the session",
      { action: "accept", content: { decision: "allow-session" } },
      "r",
      { decision: "allow", remember: "session" },
    ],
    [
      "a yes for the project",
      { action: "accept", content: { decision: "allow-project" } },
      "r",
      { decision: "allow", remember: "project" },
    ],
    ["a lasting yes that was not offered", { action: "accept", content: { decision: "allow-session" } }, undefined, no],
    ["another lasting yes that was not offered", { action: "accept", content: { decision: "allow-project" } }, undefined, no],
    ["a yes that was declined", { action: "decline", content: { decision: "allow" } }, "r", no],
    ["a no", { action: "accept", content: { decision: "deny" } }, "r", no],
    ["nothing", undefined, "r", no],
    ["no content", { action: "accept" }, "r", no],
  ];
  for (const [what, response, rule, expected] of cases)
    it(`takes ${what}`, () => assert.deepEqual(toAnswer(response, rule), expected));
});
