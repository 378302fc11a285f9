import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type Budget, createBudget } from "../model/budget.ts";
import type { ModelEvent, Provider } from "../model/model.ts";
import { RequestLedger } from "../model/request-ledger.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import { PermissionGate } from "../permissions/gate.ts";
import type { EventBody } from "../protocol/events.ts";
import { textOf, userText } from "../protocol/content.ts";
import { createToolMemory, defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { isWellFormedValue } from "../util/well-formed.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import type { LoopLimits } from "./repeated-calls.ts";
import { type AnswerSchema, toAnswerSchema } from "./structured-output.ts";
import type { SessionDeps, TurnDeps } from "./deps.ts";
import { runTurn } from "./turn.ts";
import { TurnAborted } from "./turn-aborted.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-turn-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Setup = {
  tools?: Tool[];
  maxTurns?: number;
  maxRequests?: number;
  loops?: Partial<LoopLimits>;
  budget?: Budget;
  answerSchema?: AnswerSchema;
  signal?: AbortSignal;
  provider?: Provider;
  onEvent?: (event: EventBody) => void;
  redactor?: Redactor;
  clock?: () => number;
};

async function turn(replies: readonly ScriptStep[], setup: Setup = {}) {
  const events: EventBody[] = [];
  const provider = setup.provider ?? createScriptedProvider(replies);
  let ids = 0;
  const redactor = setup.redactor ?? createRedactor();
  const session: SessionDeps = {
    provider: new RequestLedger({ maxRequests: setup.maxRequests ?? 1000, budget: setup.budget }).count(provider),
    request: { model: "m", system: redactor.text(""), tools: [] },
    maxTurns: setup.maxTurns,
    loops: { noteAt: 3, stopAt: 6, ...setup.loops },
    answerSchema: setup.answerSchema,
    tools: new Map((setup.tools ?? []).map((tool) => [tool.name, tool])),
    workspace: await createLocalWorkspace({ root: folder, env: {}, overflowDirectory: join(folder, "overflow") }),
    memory: createToolMemory(),
    policy: () => ({
      mode: "default",
      allow: [],
      ask: [],
      deny: [],
      base: { root: folder, home: undefined },
      readable: [],
    }),
    gate: new PermissionGate(),
    answerable: false,
    outputLimit: 1000,
    redactor,
    contextWindow: async () => 1000,
    newId: () => `id-${++ids}`,
    clock: setup.clock ?? (() => 0),
  };
  const deps: TurnDeps = {
    emit: (event) => {
      events.push(event);
      setup.onEvent?.(event);
    },
    flush: async () => {},
    congestion: () => undefined,
    signal: setup.signal ?? new AbortController().signal,
  };
  const report = await runTurn(session, deps, [redactor.value(userText("go"))]);
  const requests = "requests" in provider ? (provider as ReturnType<typeof createScriptedProvider>).requests : [];
  return { ...report, events, requests };
}

function tool(name: string, execute: Tool["execute"], concurrent = false): Tool {
  const access: Tool["access"] = async () => ({ kind: "note", resources: [] });
  return defineTool({ name, description: name, inputSchema: { type: "object" }, concurrent, access, execute });
}

const say = (text: string) => ({ content: [{ type: "text" as const, text }] });

describe("a turn", () => {
  it("goes on until the model calls nothing, and adds up its usage", async () => {
    const usage = { inputTokens: 10, outputTokens: 5 };
    const {
      outcome,
      modelCalls,
      usage: total,
    } = await turn(
      [
        { calls: [{ name: "Echo", input: {} }], usage },
        { calls: [{ name: "Echo", input: {} }], usage },
        { text: "Done.", usage },
      ],
      { tools: [tool("Echo", async () => say("echo"))] },
    );
    assert.deepEqual(
      { outcome, modelCalls, total },
      {
        outcome: { type: "completed", text: "Done." },
        modelCalls: 3,
        total: { inputTokens: 30, outputTokens: 15, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      },
    );
  });

  it("says of each call how it ended and how long it took", async () => {
    let now = 1_000;
    const slow = tool("Slow", async () => {
      now += 1_500.4;
      return say("done");
    });
    const replies = [{ calls: [{ name: "Slow", input: {}, callId: "c" }] }, { text: "Done." }];
    const { events } = await turn(replies, { tools: [slow], clock: () => now });
    const result = { type: "tool-result", callId: "c", name: "Slow", ...say("done"), isError: false };
    assert.deepEqual(
      events.filter(({ type }) => type === "tool.ended"),
      [{ type: "tool.ended", callId: "c", name: "Slow", status: "ok", result, durationMs: 1_500 }],
    );
  });

  it("sees the same result although the whole of it is kept elsewhere each time", async () => {
    let calls = 0;
    const long = tool("Long", async () => {
      const fullOutputPath = `/kept/${++calls}`;
      return { ...say(`much; all of it is in ${fullOutputPath}`), details: { fullOutputPath } };
    });
    const replies = Array.from({ length: 9 }, () => ({ calls: [{ name: "Long", input: {} }] }));
    const { outcome } = await turn(replies, { tools: [long] });
    assert.deepEqual([outcome.type === "stopped" && outcome.limit, calls], ["loop", 6]);
  });

  it("continues an answer that the output limit cut, and answers with all of it", async () => {
    const { outcome, requests, events } = await turn([
      { text: "The first half, ", finish: "length" },
      { text: "the second half.", finish: "stop" },
    ]);
    assert.deepEqual(outcome, { type: "completed", text: "The first half, the second half." });
    assert.deepEqual(
      requests[1]?.messages.map((message) => message.role),
      ["user", "assistant", "user"],
    );
    assert.deepEqual(
      events.flatMap((event) => (event.type === "input.added" ? [event.origin] : [])),
      ["continuation"],
    );
  });

  it("fails when the answer does not end after three continuations", async () => {
    const { outcome, modelCalls } = await turn(Array.from({ length: 9 }, () => ({ text: "more ", finish: "length" as const })));
    assert.equal(outcome.type === "failed" && outcome.error.code, "model-output-limit");
    assert.equal(modelCalls, 4);
  });

  it("continues a paused answer as it is", async () => {
    const { outcome, requests } = await turn([{ text: "Searching… ", finish: "paused" }, { text: "found." }]);
    assert.deepEqual(outcome, { type: "completed", text: "Searching… found." });
    assert.deepEqual(
      requests[1]?.messages.map((message) => message.role),
      ["user", "assistant"],
    );
  });

  it("asks once more after an empty answer and fails after the second", async () => {
    assert.deepEqual((await turn([{ text: "" }, { text: "There." }])).outcome, { type: "completed", text: "There." });
    const twice = await turn([{ text: "" }, { text: " " }]);
    assert.equal(twice.outcome.type === "failed" && twice.outcome.error.code, "model-empty-answer");
  });

  it("keeps no half characters of an answer", async () => {
    const { outcome, events } = await turn([{ text: "a\ud800b \u{1f600}" }]);
    assert.deepEqual(outcome, { type: "completed", text: "a\ufffdb \u{1f600}" });
    assert.ok(events.every((event) => event.type !== "message.ended" || isWellFormedValue(event.message)));
  });

  it("tells a refusal from a success, and keeps what was said", async () => {
    const { outcome } = await turn([{ text: "I can", finish: "refusal" }]);
    assert.deepEqual(
      [outcome.type, outcome.type === "failed" && outcome.error.code, outcome.text],
      ["failed", "model-refusal", "I can"],
    );
  });

  it("tells the model of a call that goes round in circles and ends with an outcome of its own", async () => {
    const again = { text: "again", calls: [{ name: "Look", input: {} }] };
    const look = tool("Look", async () => say("nothing"));
    const { outcome, modelCalls, requests } = await turn(new Array(9).fill(again), { tools: [look] });
    assert.deepEqual(
      [outcome, modelCalls],
      [
        {
          type: "stopped",
          limit: "loop",
          reason: "Look was called 6 times with the same input and the same result",
          text: "again",
        },
        6,
      ],
    );
    const results = requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
    assert.deepEqual(
      results.map((text) => /You have made this call (\d) times/.exec(text)?.[1]),
      [undefined, undefined, undefined, "3", "4", "5"],
    );
  });

  it("ends a circle within one message, and does not run what is left of it", async () => {
    let ran = 0;
    const look = tool("Look", async () => {
      ran++;
      return say("nothing");
    });
    const calls = new Array(10).fill({ name: "Look", input: {} });
    const { outcome, events } = await turn([{ calls }, { text: "never" }], { tools: [look] });
    assert.deepEqual([outcome.type === "stopped" && outcome.limit, ran], ["loop", 6]);
    const statuses = events.flatMap((event) => (event.type === "tool.ended" ? [event.status] : []));
    assert.deepEqual(statuses, [...new Array(6).fill("ok"), ...new Array(4).fill("interrupted")]);
  });

  it("counts calls to tools that are not there, and to those that fail", async () => {
    const fails = tool("Look", async () => {
      throw new ToolFailure("no such file");
    });
    for (const name of ["Look", "Nothing"]) {
      const { outcome, modelCalls } = await turn(new Array(9).fill({ calls: [{ name, input: {} }] }), { tools: [fails] });
      assert.deepEqual([outcome.type === "stopped" && outcome.limit, modelCalls], ["loop", 6]);
    }
  });

  it("ends where every call is denied or fails, however they differ, and tells the model before", async () => {
    const fails = tool("Look", async () => {
      throw new ToolFailure("not allowed");
    });
    const script = new Array(40).fill((_: unknown, step: number) => ({
      text: "trying",
      calls: [{ name: "Look", input: { step } }],
    }));
    const { outcome, requests } = await turn(script, { tools: [fails] });
    const reason = "all calls of 30 answers in a row were denied or failed";
    assert.deepEqual(outcome, { type: "stopped", limit: "loop", reason, text: "trying" });
    const isTold = requests.map(({ messages }) => /your last 15 answers/.test(JSON.stringify(messages.at(-1))));
    assert.deepEqual([requests.length, isTold.indexOf(true), isTold.lastIndexOf(true)], [30, 15, 15]);
  });

  it("lets a tool be asked until its answer changes", async () => {
    let asked = 0;
    const poll = tool("Poll", async () => say(asked++ % 5 === 4 ? `step ${asked}` : `waiting ${asked / 5}`));
    const script = [...new Array(30).fill({ calls: [{ name: "Poll", input: {} }] }), { text: "done" }];
    const { outcome } = await turn(script, { tools: [poll], loops: { noteAt: 0 } });
    assert.equal(outcome.type, "completed");
  });

  it("lets the same call be made after the work of an agent, which may have changed what it sees", async () => {
    const access: Tool["access"] = async () => ({ kind: "note", resources: ["fixer"] });
    const hand = { ...tool("Task", async () => say("done")), access };
    const check = tool("Check", async () => say("it fails"));
    const step = (_: unknown, index: number) => ({
      calls: [index % 2 ? { name: "Check", input: {} } : { name: "Task", input: { prompt: `try ${index}` } }],
    });
    const { outcome } = await turn([...new Array(30).fill(step), { text: "done" }], { tools: [hand, check] });
    assert.deepEqual(outcome, { type: "completed", text: "done" });
  });

  it("bounds cut answers in all, also with calls in between", async () => {
    let step = 0;
    const count = tool("Count", async () => say(`${step}`));
    const script = new Array(500).fill(() =>
      step++ % 2 ? { text: "cut ", finish: "length" as const } : { calls: [{ name: "Count", input: { step } }] },
    );
    const { outcome, modelCalls } = await turn(script, { tools: [count] });
    assert.equal(outcome.type === "failed" && outcome.error.code, "model-output-limit");
    assert.equal(modelCalls, 62);
  });

  it("stops at the ceiling of requests, and counts only those that were made", async () => {
    let step = 0;
    const count = tool("Count", async () => say(`${step++}`));
    const script = new Array(20).fill(() => ({ text: "on", calls: [{ name: "Count", input: { step } }] }));
    const { outcome, modelCalls, requests } = await turn(script, { tools: [count], maxRequests: 5 });
    assert.deepEqual([outcome, modelCalls, requests.length], [{ type: "stopped", limit: "max-requests", text: "on" }, 5, 5]);
  });

  it("stops at the limit of model calls after running the last call's tools", async () => {
    let ran = 0;
    const echo = tool("Echo", async () => {
      ran++;
      return say("x");
    });
    const call = { text: "again", calls: [{ name: "Echo", input: {} }] };
    const { outcome, modelCalls } = await turn([call, call, call], { tools: [echo], maxTurns: 2 });
    assert.deepEqual(
      { outcome, modelCalls, ran },
      { outcome: { type: "stopped", limit: "max-turns", text: "again" }, modelCalls: 2, ran: 2 },
    );
  });

  it("leaves timers and sockets their turn, though the model and its tools answer at once", async () => {
    const controller = new AbortController();
    const echo = tool("Echo", async () => {
      setImmediate(() => controller.abort(new TurnAborted("abort")));
      return say("x");
    });
    const call = { text: "again", calls: [{ name: "Echo", input: {} }] };
    const { outcome, modelCalls } = await turn([call, call, call], { tools: [echo], maxTurns: 2, signal: controller.signal });
    assert.deepEqual({ outcome, modelCalls }, { outcome: { type: "cancelled", cause: "abort", text: "again" }, modelCalls: 1 });
  });

  it("runs neighbours side by side only where their tools say so, and keeps the order of calls", async () => {
    let now = 0;
    let most = 0;
    const busy = (name: string, concurrent: boolean): Tool =>
      tool(
        name,
        async () => {
          most = Math.max(most, ++now);
          await new Promise((resolve) => setImmediate(resolve));
          now--;
          return say(name);
        },
        concurrent,
      );
    const run = async (names: string[]) => {
      most = 0;
      const { requests } = await turn([{ calls: names.map((name) => ({ name, input: {} })) }, { text: "ok" }], {
        tools: [busy("Par", true), busy("Seq", false)],
      });
      const results = requests[1]?.messages.at(-1);
      return { most, order: results?.role === "tool" && results.content.map((result) => result.name) };
    };
    assert.deepEqual(await run(["Par", "Par", "Par"]), { most: 3, order: ["Par", "Par", "Par"] });
    assert.deepEqual(await run(["Seq", "Seq"]), { most: 1, order: ["Seq", "Seq"] });
    assert.deepEqual(await run(["Par", "Seq", "Par"]), { most: 1, order: ["Par", "Seq", "Par"] });
  });

  it("answers unknown tools, bad input, broken input and failures with words the model can act on", async () => {
    const strict = defineTool<{ path: string }>({
      ...tool("Strict", async () => say("never")),
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
    });
    const fails = tool("Fails", async () => {
      throw new ToolFailure("No such file: x");
    });
    const { requests } = await turn(
      [
        {
          calls: [
            { name: "Nope", input: {} },
            { name: "Strict", input: { file: "x" } },
            { name: "Strict", input: {}, malformedInput: '{"path": "a' },
            { name: "Fails", input: {} },
            { name: "Strict", input: {}, malformedInput: `{${"p".repeat(199)}` },
            { name: "Strict", input: {}, malformedInput: `{${"q".repeat(200)}` },
          ],
        },
        { text: "ok" },
      ],
      { tools: [strict, fails] },
    );
    const results = requests[1]?.messages.at(-1);
    const texts = results?.role === "tool" ? results.content.map((result) => [result.isError, textOf(result.content)]) : [];
    assert.deepEqual(
      texts.map(([isError]) => isError),
      [true, true, true, true, true, true],
    );
    for (const [index, words] of [
      /There is no tool named Nope.*Strict, Fails/,
      /path/,
      /cut off, broken, or nested/,
      /^No such file: x$/,
      /Received: \{p{199}$/,
      /Received: \{q{199}…$/,
    ].entries()) {
      assert.match(String(texts[index]?.[1]), words);
    }
  });

  it("bounds every tool result and keeps the whole text in a file", async () => {
    const long = tool("Long", async () => say("x".repeat(5000)));
    const { requests, events } = await turn([{ calls: [{ name: "Long", input: {} }] }, { text: "ok" }], { tools: [long] });
    const results = requests[1]?.messages.at(-1);
    const text = results?.role === "tool" ? textOf(results.content[0]?.content ?? []) : "";
    assert.ok(text.length <= 1000, `${text.length} characters`);
    const ended = events.find((event) => event.type === "tool.ended");
    assert.match(ended?.details?.fullOutputPath ?? "", /overflow/);
  });

  it("stops before the next call once it has spent more than its budget, and keeps what was said", async () => {
    const call = { text: "working", calls: [{ name: "Echo", input: {} }] };
    let ran = 0;
    const echo = tool("Echo", async () => {
      ran++;
      return say("x");
    });
    const spend = async (limitUsd: number) => {
      ran = 0;
      const budget = createBudget(limitUsd, () => 0.1);
      const { outcome, modelCalls } = await turn([call, call, { text: "done" }], { tools: [echo], budget });
      return [outcome.type === "stopped" ? outcome.limit : outcome.type, outcome.text, modelCalls, ran];
    };
    assert.deepEqual(await spend(0.3), ["completed", "done", 3, 2]); // exactly the limit is not above it
    assert.deepEqual(await spend(0.29), ["max-budget", "done", 3, 2]);
    assert.deepEqual(await spend(0.05), ["max-budget", "working", 1, 0]);
  });

  it("asks again until an answer fits the schema, and gives up after two more tries", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
    const native = toAnswerSchema(schema, true);
    const fits = await turn([{ text: "no idea" }, { text: '{"n": "x"}' }, { text: 'Here: {"n": 3} ok' }], {
      answerSchema: native,
    });
    assert.deepEqual(fits.outcome, { type: "completed", text: '{"n":3}', structured: { n: 3 } });
    assert.match(JSON.stringify(fits.requests[2]?.messages.at(-1)), /does not fit the schema: .*n/);
    assert.deepEqual(fits.requests[0]?.outputSchema, schema);
    const never = await turn([{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" }], { answerSchema: native });
    assert.deepEqual([never.outcome.type === "failed" && never.outcome.error.code, never.modelCalls], ["output-schema", 3]);
  });

  it("takes the answer by a tool where the provider knows no schemas, also one that is no object", async () => {
    const answer = (value: unknown) => ({ calls: [{ name: "StructuredOutput", input: { value } }] });
    const list = toAnswerSchema({ type: "array", items: { type: "string" } }, false);
    const fits = await turn([answer([1]), { text: "done" }, answer(["a"])], { answerSchema: list });
    assert.deepEqual(fits.outcome, { type: "completed", text: '["a"]', structured: ["a"] });
    const never = await turn([answer(1), answer(2), answer(3), answer(4)], { answerSchema: list });
    assert.deepEqual([never.outcome.type === "failed" && never.outcome.error.code, never.modelCalls], ["output-schema", 3]);
  });

  it("keeps what was said when it is aborted in the middle of an answer", async () => {
    const controller = new AbortController();
    const { outcome, events } = await turn([{ text: "Half an answer", hang: true }], {
      signal: controller.signal,
      onEvent: (event) =>
        event.type === "text.delta" && event.text.includes("answer") && controller.abort(new TurnAborted("abort")),
    });
    assert.deepEqual(outcome, { type: "cancelled", cause: "abort", text: "Half an answer" });
    const message = events.find((event) => event.type === "message.ended")?.message;
    assert.deepEqual([message?.finish, message && textOf(message.content)], ["interrupted", "Half an answer"]);
  });

  it("ends within a second of an abort though tool and model ignore it", { timeout: 10_000 }, async () => {
    const deaf = tool("Deaf", () => new Promise(() => {}));
    const inTool = new AbortController();
    const startedAt = Date.now();
    const first = await turn([{ calls: [{ name: "Deaf", input: {} }] }], {
      tools: [deaf],
      signal: inTool.signal,
      onEvent: (event) => event.type === "tool.started" && inTool.abort(new TurnAborted("signal")),
    });
    assert.ok(Date.now() - startedAt < 1000);
    assert.deepEqual(first.outcome, { type: "cancelled", cause: "signal", text: "" });
    assert.deepEqual(
      first.events.flatMap((event) => (event.type === "tool.ended" ? [event.status] : [])),
      ["interrupted"],
    );

    const inModel = new AbortController();
    const deafModel: Provider = {
      name: "deaf",
      model: "m",
      nativeSchema: false,
      contextWindow: 1,
      async *stream(): AsyncGenerator<ModelEvent> {
        setImmediate(() => inModel.abort(new TurnAborted("abort")));
        await new Promise(() => {});
        yield { type: "text.delta", text: "" };
      },
    };
    assert.equal((await turn([], { provider: deafModel, signal: inModel.signal })).outcome.type, "cancelled");
  });

  it("runs no tool of a message whose calls come after an abort", async () => {
    const controller = new AbortController();
    let ran = 0;
    const stopper = tool("Stop", async () => {
      ran++;
      controller.abort(new TurnAborted("abort"));
      return say("stopped");
    });
    const calls = [
      { name: "Stop", input: {} },
      { name: "Stop", input: {} },
    ];
    const { events } = await turn([{ calls }], { tools: [stopper], signal: controller.signal });
    assert.equal(ran, 1);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "tool.ended" ? [event.status] : [])),
      ["ok", "interrupted"],
    );
  });
});
