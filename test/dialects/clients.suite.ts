import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { HttpAgent } from "@ag-ui/client";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { createScriptedProvider, SessionHost } from "../../packages/runtime/src/exports/index.ts";
import { createDialectHost, createDialects } from "../../packages/runtime/src/exports/dialects.ts";
import { Ground } from "../server/ground.ts";
import { surroundingsOf } from "../../packages/runtime/src/hosting/surroundings.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-dialects-")));
after(() => rmSync(top, { recursive: true, force: true }));

function serve(replies: Parameters<typeof createScriptedProvider>[0]) {
  const provider = createScriptedProvider(replies);
  const around = surroundingsOf({ HOME: top, OUTRIDER_HOME: mkdtempSync(join(top, "home-")) });
  const host = new SessionHost({ around, defaults: { provider, bare: true, cwd: top } });
  after(() => host.shutdown());
  const dialects = createDialects(createDialectHost({ host, version: "1.2.3" }));
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
    (await dialects.fetch(new Request(url, init))) ?? new Response("", { status: 404 });
  return { provider, fetch };
}

const look = { reasoning: "I look.", text: "Looking.", calls: [{ name: "Glob", input: { pattern: "*.none" }, callId: "c1" }] };
const url = "http://127.0.0.1";

describe("useChat of the AI SDK", () => {
  it("builds the message again: thought, words, the call with its result, the answer", async () => {
    const { fetch, provider } = serve([look, { text: "Nothing there." }, { text: "Still nothing." }]);
    const transport = new DefaultChatTransport({ api: `${url}/v1/sessions/chat-1/chat`, fetch });
    const ask = async (messages: UIMessage[]): Promise<UIMessage> => {
      const stream = await transport.sendMessages({
        ...{ trigger: "submit-message", chatId: "chat-1", messageId: undefined, messages, abortSignal: undefined },
      });
      let last: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream })) last = message;
      return last ?? assert.fail("no message");
    };
    const user = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });
    const first = await ask([user("1", "look")]);
    assert.deepEqual(
      first.parts.map((part) => [
        part.type,
        "text" in part ? part.text : "toolName" in part ? `${part.toolName} ${part.state}` : "",
      ]),
      [
        ["step-start", ""],
        ["reasoning", "I look."],
        ["text", "Looking."],
        ["dynamic-tool", "Glob output-available"],
        ["text", "Nothing there."],
      ],
    );
    const second = await ask([user("1", "look"), first, user("2", "again")]);
    assert.equal(second.parts.findLast((part) => part.type === "text")?.text, "Still nothing.");
    assert.equal(provider.requests.at(-1)?.messages.filter(({ role }) => role === "user").length, 2, "the past is told once");
  });

  it("is told that there is nothing to resume", async () => {
    const { fetch } = serve([]);
    const transport = new DefaultChatTransport({ api: `${url}/v1/sessions/chat-3/chat`, fetch });
    assert.equal(await transport.reconnectToStream({ chatId: "chat-3" }), null);
  });

  it("hears that the model failed", async () => {
    const { fetch } = serve([{ fail: { code: "provider-unavailable", message: "boom" } }]);
    const transport = new DefaultChatTransport({ api: `${url}/v1/sessions/chat-2/chat`, fetch });
    const message: UIMessage = { id: "1", role: "user", parts: [{ type: "text", text: "go" }] };
    const stream = await transport.sendMessages({
      ...{ trigger: "submit-message", chatId: "x", messageId: undefined, messages: [message], abortSignal: undefined },
    });
    const types: string[] = [];
    for await (const part of stream) types.push(part.type);
    assert.ok(types.includes("error"));
  });
});

describe("AG-UI's client", () => {
  it("runs the agent and has its messages, calls and results", async () => {
    const { fetch } = serve([look, { text: "Nothing there." }]);
    const agent = new HttpAgent({ url: `${url}/v1/ag-ui`, threadId: "thread-1", fetch });
    agent.setMessages([{ id: "1", role: "user", content: "look" }]);
    const { newMessages } = await agent.runAgent({});
    const said = newMessages.filter(({ role }) => role === "assistant").map(({ content }) => content);
    assert.ok(said.includes("Looking.") && said.includes("Nothing there."), JSON.stringify(newMessages));
    assert.ok(newMessages.some(({ role }) => role === "tool"));
  });

  const touch = (name: string) => ({ calls: [{ name: "Bash", input: { command: `touch ${name}` }, callId: `call-${name}` }] });
  const agentOf = (ground: Ground, token = ground.owner): HttpAgent => {
    const agent = new HttpAgent({
      ...{ url: `${ground.url}/v1/ag-ui`, threadId: "asked" },
      headers: { authorization: `Bearer ${token}` },
    });
    agent.setMessages([{ id: "1", role: "user", content: "make them" }]);
    return agent;
  };

  it("is interrupted by questions, answers them with its next runs, and reads the same turn to its end", async () => {
    const ground = await new Ground([touch("one"), touch("two"), touch("three"), { text: "Made." }]).start({
      permissionWaitMs: 0,
    });
    const agent = agentOf(ground);
    await agent.runAgent({});
    const [first] = agent.pendingInterrupts;
    assert.deepEqual([first?.reason, first?.toolCallId, agent.pendingInterrupts.length], ["tool_call", "call-one", 1]);
    assert.match(first?.message ?? "", /^Bash needs permission: [\s\S]*touch one/);
    const resolve = (payload: object) => [
      { interruptId: agent.pendingInterrupts[0]?.id ?? "", status: "resolved" as const, payload },
    ];
    await agent.runAgent({ resume: resolve({ approved: true }) });
    await agent.runAgent({ resume: resolve({ approved: false }) });
    const editedArgs = { command: "touch other" };
    const { newMessages } = await agent.runAgent({ resume: resolve({ approved: true, editedArgs }) });
    assert.equal(newMessages.findLast(({ role }) => role === "assistant")?.content, "Made.");
    assert.deepEqual(
      ["one", "two", "three", "other"].map((name) => existsSync(join(ground.cwd, name))),
      [true, false, false, true],
    );
    const results = agent.messages.filter(({ role }) => role === "tool") as { toolCallId: string }[];
    assert.deepEqual(
      results.map(({ toolCallId }) => toolCallId),
      ["call-one", "call-two", "call-three"],
    );
    assert.deepEqual((await ground.ask("GET", "/v1/sessions/asked")).json.turns, 1);
  });

  it("is told of answers that are none, and nothing is done; abandoned questions are answered with no", async () => {
    const ground = await new Ground([touch("one"), { text: "Not made." }]).start({ permissionWaitMs: 0 });
    const agent = agentOf(ground);
    await agent.runAgent({});
    const run = async (more: object) =>
      (
        await ground.ask("POST", "/v1/ag-ui", {
          body: { threadId: "asked", runId: "r", messages: [{ id: "1", role: "user", content: "x" }], ...more },
        })
      ).text;
    const id = agent.pendingInterrupts[0]?.id ?? "";
    for (const resume of [undefined, [], [{ interruptId: "none", status: "resolved", payload: { approved: true } }]])
      assert.match(await run({ resume }), /^data: \{"type":"RUN_ERROR"/, JSON.stringify(resume));
    assert.match(await run({ resume: [{ interruptId: id, status: "resolved", payload: { approved: "yes" } }] }), /RUN_ERROR/);
    assert.equal((await ground.ask("GET", "/v1/sessions/asked/questions")).json.questions.length, 1);
    const { newMessages } = await agent.runAgent({ resume: [{ interruptId: id, status: "cancelled" }] });
    assert.equal(newMessages.findLast(({ role }) => role === "assistant")?.content, "Not made.");
    assert.match(await run({ resume: [{ interruptId: id, status: "cancelled" }] }), /RUN_ERROR/, "again it is nothing");
    assert.ok(!existsSync(join(ground.cwd, "one")));
  });

  it("reads on when somebody else has answered, and is not interrupted where it may not answer", async () => {
    const ground = await new Ground([touch("one"), { text: "Made." }, touch("two"), { text: "Not made." }]).start({
      permissionWaitMs: 0,
    });
    const agent = agentOf(ground);
    await agent.runAgent({});
    const [question] = (await ground.ask("GET", "/v1/sessions/asked/questions")).json.questions;
    await ground.ask("POST", `/v1/sessions/asked/permissions/${question.requestId}`, { body: { decision: "allow" } });
    const resume = [{ interruptId: question.requestId, status: "resolved" as const, payload: { approved: false } }];
    const first = await agent.runAgent({ resume });
    assert.equal(first.newMessages.findLast(({ role }) => role === "assistant")?.content, "Made.");
    const driver = agentOf(ground, ground.token({ name: "driver", scopes: ["drive"], of: ["owner"] }));
    const { newMessages } = await driver.runAgent({});
    assert.deepEqual(driver.pendingInterrupts, []);
    assert.equal(newMessages.findLast(({ role }) => role === "assistant")?.content, "Not made.");
    assert.ok(existsSync(join(ground.cwd, "one")) && !existsSync(join(ground.cwd, "two")));
  });

  it("hears that a run was stopped, and never takes that for success", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const agent = agentOf(ground);
    const watch = (async () => {
      for (;;) {
        const { status, json } = await ground.ask("GET", "/v1/sessions/asked");
        if (status === 200 && json.state === "working") return await ground.ask("POST", "/v1/sessions/asked/cancel");
      }
    })();
    const outcomes: unknown[] = [];
    await agent.runAgent({}, { onRunFinishedEvent: ({ outcome }) => void outcomes.push(outcome) });
    await watch;
    assert.deepEqual(JSON.stringify(outcomes).includes("cancelled"), true, JSON.stringify(outcomes));
  });
});

describe("A2A's client", () => {
  const connect = async (fetch: typeof globalThis.fetch) => {
    const resolver = new DefaultAgentCardResolver({ fetchImpl: fetch });
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl: fetch })],
      cardResolver: resolver,
    });
    return await factory.createFromUrl(url);
  };
  const message = (text: string, contextId = "") => ({
    tenant: "",
    message: {
      ...{ messageId: "m1", contextId, taskId: "", role: 1, metadata: undefined, extensions: [], referenceTaskIds: [] },
      parts: [{ content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" }],
    },
    configuration: undefined,
    metadata: undefined,
  });

  it("finds the agent by its card, sends a message, and asks for the task", async () => {
    const { fetch, provider } = serve([{ text: "One." }, { text: "Two." }]);
    const client = await connect(fetch as typeof globalThis.fetch);
    const sent = JSON.parse(JSON.stringify(await client.sendMessage(message("go"))));
    const { id, contextId } = sent.payload?.value ?? sent;
    assert.match(JSON.stringify(sent), /One\./);
    const task = JSON.stringify(await client.getTask({ tenant: "", id, historyLength: undefined }));
    assert.match(task, /One\./);
    await client.sendMessage(message("on", contextId));
    assert.equal(provider.requests.at(-1)?.messages.filter(({ role }) => role === "user").length, 2);
  });

  it("hears of the work as it goes on", async () => {
    const { fetch } = serve([look, { text: "Nothing there." }]);
    const client = await connect(fetch as typeof globalThis.fetch);
    const kinds: string[] = [];
    for await (const event of client.sendMessageStream(message("look")))
      kinds.push(String((event as { payload?: { $case: string } }).payload?.$case));
    assert.equal(kinds[0], "task");
    assert.ok(kinds.includes("artifactUpdate"));
    assert.equal(kinds.at(-1), "statusUpdate");
  });

  it("goes on while its client is away, and is subscribed to again", async () => {
    const { fetch, provider } = serve([{ text: "Thinking", delayMs: 500 }]);
    const client = await connect(fetch as typeof globalThis.fetch);
    const events = client.sendMessageStream(message("go"))[Symbol.asyncIterator]();
    const { value: first } = await events.next();
    const { id } = (first as { payload: { value: { id: string } } }).payload.value;
    await events.return?.(undefined);
    const kinds: (string | undefined)[] = [];
    for await (const event of client.resubscribeTask({ tenant: "", id }))
      kinds.push((event as { payload?: { $case: string } }).payload?.$case);
    assert.deepEqual([kinds[0], kinds.at(-1)], ["task", "statusUpdate"]);
    const task = await client.getTask({ tenant: "", id, historyLength: undefined });
    assert.equal(task.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(provider.requests.length, 1);
  });

  it("ends a task", async () => {
    const { fetch } = serve([{ text: "Thinking", hang: true }]);
    const client = await connect(fetch as typeof globalThis.fetch);
    const events = client.sendMessageStream(message("go"))[Symbol.asyncIterator]();
    const { value: first } = await events.next();
    const id = (first as { payload: { value: { id: string } } }).payload.value.id;
    await client.cancelTask({ tenant: "", id, metadata: undefined });
    let last: unknown;
    for (let next = await events.next(); !next.done; next = await events.next()) last = next.value;
    assert.equal((last as { payload: { $case: string } }).payload.$case, "statusUpdate");
    const task = await client.getTask({ tenant: "", id, historyLength: undefined });
    assert.equal(task.status?.state, TaskState.TASK_STATE_CANCELED);
  });
});
