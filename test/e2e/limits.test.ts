import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../packages/runtime/src/journal/memory-store.ts";
import { createScriptedProvider } from "../../packages/runtime/src/model/scripted.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { bin, launcher, eventually, lines, model, processesWith, type Run, run, start, tempFolder } from "./command.ts";

const home = tempFolder("home");
const project = tempFolder("project");
const json = ["--output-format", "json"];

function result({ stdout }: Run): Record<string, unknown> {
  const frames = lines(stdout).filter((frame) => frame["type"] === "result");
  assert.equal(frames.length, 1, stdout);
  return frames[0] ?? {};
}

function errorOf(ended: Run): { code: string; message: string; hint: string } {
  return result(ended)["error"] as { code: string; message: string; hint: string };
}

describe("--max-budget-usd", () => {
  // claude-sonnet-5-5 costs 2 dollars per million tokens in and 10 out.
  const usage = { inputTokens: 1000, outputTokens: 100 };
  const costUsd = 0.003;
  const working = { text: "Working on it.", calls: [{ name: "Glob", input: { pattern: "*" } }], usage };

  for (const text of ["0", "-1", "NaN", "abc", "", "Infinity"]) {
    it(`is refused when it is no amount: ${JSON.stringify(text)}`, async () => {
      const { env, server } = await model([{ text: "ok" }], home);
      const ended = await run(["-p", "x", `--max-budget-usd=${text}`, ...json], { env });
      assert.deepEqual([ended.code, errorOf(ended).code, server.requests.length], [64, "usage", 0]);
      assert.match(ended.stderr, /--max-budget-usd needs a (number above 0|value)/);
    });
  }

  it("stops the run with exit 137 once more is spent, and keeps what was said", async () => {
    const { env, server } = await model([working, working, working, { text: "Done.", usage }], home);
    const ended = await run(["-p", "x", "--max-budget-usd", String(costUsd * 1.5), ...json], { env, cwd: project });
    const { subtype, is_error, terminal_reason, last_assistant_text, num_turns, total_cost_usd } = result(ended);
    assert.deepEqual([ended.code, server.requests.length], [137, 2]);
    assert.deepEqual(
      { subtype, is_error, terminal_reason, last_assistant_text, num_turns, total_cost_usd },
      {
        subtype: "error_max_budget_usd",
        is_error: true,
        terminal_reason: "budget_exhausted",
        last_assistant_text: "Working on it.",
        num_turns: 2,
        total_cost_usd: costUsd * 2,
      },
    );
    assert.match(ended.stderr, /--max-budget-usd/);
  });

  it("does not lose an answer that costs too much", async () => {
    const { env } = await model([{ text: "The whole answer.", usage }], home);
    const ended = await run(["-p", "x", "--max-budget-usd", "0.001", "--output-format", "stream-json"], { env });
    assert.deepEqual([ended.code, result(ended)["last_assistant_text"]], [137, "The whole answer."]);
  });

  it("may be spent to the last cent", async () => {
    const { env } = await model([working, working, { text: "Done.", usage }], home);
    const ended = await run(["-p", "x", "--max-budget-usd", String(costUsd * 3), ...json], { env, cwd: project });
    assert.deepEqual([ended.code, result(ended)["result"], result(ended)["total_cost_usd"]], [0, "Done.", 0.009]);
  });

  it("is refused for a model whose price nobody knows, unless that is allowed or the price is told", async () => {
    const own = tempFolder("prices");
    const { env, server } = await model(() => ({ text: "ok", usage }), own);
    const args = ["-p", "x", "--model", "claude-unheard-of", "--max-budget-usd", "0.001", ...json];
    const refused = await run(args, { env });
    assert.deepEqual([refused.code, errorOf(refused).code, server.requests.length], [78, "config", 0]);
    assert.match(errorOf(refused).message, /price of anthropic\/claude-unheard-of is not known/);
    assert.deepEqual(journals(own), []);
    const allowed = await run([...args, "--allow-unknown-price"], { env });
    assert.deepEqual([allowed.code, result(allowed)["total_cost_usd"]], [0, null]);
    const price = { input: 3, output: 15 };
    writeFileSync(
      join(own, "models.json"),
      JSON.stringify({ models: [{ provider: "anthropic", model: "claude-unheard-of", price }] }),
    );
    const told = await run(args, { env });
    assert.equal(told.code, 137, told.stderr);
  });

  it("counts the fallback's calls", async () => {
    const { env } = await model(
      ({ body }) => ((body as { model: string }).model === "claude-opus-4-1" ? { status: 529 } : { text: "ok", usage }),
      home,
    );
    const args = [
      "-p",
      "x",
      "--model",
      "claude-opus-4-1",
      "--fallback-model",
      "claude-sonnet-5-5",
      "--max-budget-usd",
      "0.002",
      ...json,
    ];
    const ended = await run(args, { env });
    assert.deepEqual([ended.code, result(ended)["total_cost_usd"]], [137, costUsd]);
  });
});

function journals(folder: string): string[] {
  try {
    return readdirSync(join(folder, "sessions"));
  } catch {
    return [];
  }
}

describe("--deadline", () => {
  for (const text of ["0", "-1s", "abc", "5 minutes", "1d", "10000h", ""]) {
    it(`is refused when it is no time: ${JSON.stringify(text)}`, async () => {
      const { env, server } = await model([{ text: "ok" }], home);
      const ended = await run(["-p", "x", `--deadline=${text}`, ...json], { env });
      assert.deepEqual([ended.code, errorOf(ended).code, server.requests.length], [64, "usage", 0]);
    });
  }

  it("is not noticed by a run that is in time", async () => {
    const { env } = await model([{ text: "ok" }], home);
    assert.deepEqual((await run(["-p", "x", "--deadline", "1h"], { env })).stdout, "ok\n");
  });

  it("ends a run whose model says no more, with a result and what was said", async () => {
    const { env } = await model([{ text: "Half an ans", hang: true }], home);
    const ended = await run(["-p", "x", "--deadline", "700ms", "--output-format", "stream-json"], { env });
    const { subtype, is_error, terminal_reason, last_assistant_text } = result(ended);
    assert.deepEqual(
      { code: ended.code, subtype, is_error, terminal_reason, last_assistant_text },
      {
        code: 124,
        subtype: "error_during_execution",
        is_error: true,
        terminal_reason: "cancelled_deadline",
        last_assistant_text: "Half an ans",
      },
    );
    assert.ok(ended.ms < 3500, `${ended.ms} ms`);
    assert.match(ended.stderr, /700ms have passed \(--deadline\)/);
  });

  it("ends a run before its model has said anything", async () => {
    const { env } = await model([{ text: "late", delayMs: 60_000 }], home);
    const ended = await run(["-p", "x", "--deadline", "0.5", ...json], { env });
    assert.deepEqual([ended.code, result(ended)["terminal_reason"]], [124, "cancelled_deadline"]);
    assert.ok(ended.ms < 3500, `${ended.ms} ms`);
  });

  it("ends the tools too, with whatever they started", async () => {
    const seconds = `86${process.pid}`; // a sleep that nobody else sleeps
    const command = `trap '' TERM; sleep ${seconds} & sleep ${seconds}; wait`;
    const { env } = await model([{ text: "Waiting.", calls: [{ name: "Bash", input: { command } }] }], home);
    const { done } = start(["-p", "x", "--allowedTools", "Bash", "--deadline", "1500ms", ...json], { env });
    await eventually(() => processesWith(`sleep\0${seconds}`).length === 2, "two sleeps");
    const ended = await done;
    assert.deepEqual([ended.code, result(ended)["terminal_reason"]], [124, "cancelled_deadline"]);
    assert.ok(ended.ms < 1500 + 2800, `${ended.ms} ms`);
    assert.deepEqual(processesWith(`sleep\0${seconds}`), []);
  });

  it("ends a run that waits for a prompt", async () => {
    const { env } = await model([{ text: "ok" }], home);
    const { child, done } = start(["-p", "--deadline", "500ms", ...json], { env, stdin: "open" });
    const giveUp = setTimeout(() => child.kill("SIGKILL"), 4000);
    const ended = await done;
    clearTimeout(giveUp);
    assert.deepEqual([ended.code, result(ended)["terminal_reason"]], [124, "cancelled_deadline"]);
  });

  it("ends a run whose output nobody reads", async () => {
    const { env } = await model([{ text: "word ".repeat(100_000) }], home);
    const child = spawn(launcher, [bin, "-p", "x", "--deadline", "500ms", "--output-format", "stream-json"], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const giveUp = setTimeout(() => child.kill("SIGKILL"), 5000);
    const code = await new Promise((resolve) => child.on("exit", resolve));
    clearTimeout(giveUp);
    child.stdout.destroy();
    assert.equal(code, 124);
  });

  it("ends a run that waits between two tries", async () => {
    const { env } = await model(() => ({ status: 529, headers: { "retry-after": "30" } }), home);
    const ended = await run(["-p", "x", "--deadline", "500ms", ...json], { env });
    assert.deepEqual([ended.code, result(ended)["terminal_reason"]], [124, "cancelled_deadline"]);
    assert.ok(ended.ms < 3500, `${ended.ms} ms`);
  });
});

describe("--max-turns", () => {
  it("is one more than the model needs, or enough", async () => {
    const { env } = await model([{ calls: [{ name: "Glob", input: { pattern: "*" } }] }, { text: "Done." }], home);
    const ended = await run(["-p", "x", "--max-turns", "2", ...json], { env, cwd: project });
    assert.deepEqual([ended.code, result(ended)["result"]], [0, "Done."]);
  });
});

describe("--json-schema", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
  const call = (input: unknown) => ({ calls: [{ name: "StructuredOutput", input }] });
  const text = JSON.stringify(schema);

  const wires: [string, boolean, (url: string) => Record<string, string>][] = [
    ["anthropic", true, (url) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })],
    ["openai", true, (url) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${url}/v1` })],
    ["gemini", true, (url) => ({ GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url })],
    ["openai-compatible", false, (url) => ({ OPENAI_COMPATIBLE_BASE_URL: `${url}/v1` })],
  ];
  const modelOf = (provider: string): string[] => (provider === "openai-compatible" ? ["--model", "m"] : []);
  for (const [provider, native, envOf] of wires) {
    const reply = (value: unknown) => (native ? { text: JSON.stringify(value) } : call(value));

    it(`is kept by ${provider}, ${native ? "which takes it itself" : "through a tool"}, after what was wrong was said`, async () => {
      const { server } = await model([reply({ n: "three" }), reply({ n: 3 })], home);
      const env = { ...envOf(server.url), OUTRIDER_HOME: home };
      const ended = await run(["-p", "x", "--provider", provider, ...modelOf(provider), "--json-schema", text, ...json], { env });
      assert.equal(ended.code, 0, ended.stderr);
      assert.deepEqual(
        [result(ended)["structured_output"], result(ended)["result"], result(ended)["num_turns"]],
        [{ n: 3 }, '{"n":3}', 2],
      );
      const [first, second] = server.requests.map((request) => JSON.stringify(request.body));
      assert.ok(first?.includes('"additionalProperties":false'), first);
      assert.equal(first?.includes("StructuredOutput"), !native);
      assert.match(second ?? "", /must be an? integer|expected an? integer|integer/i);
    });

    it(`ends with exit 2 after two retries with ${provider}`, async () => {
      const { server } = await model(() => reply({}), home);
      const env = { ...envOf(server.url), OUTRIDER_HOME: home };
      const ended = await run(["-p", "x", "--provider", provider, ...modelOf(provider), "--json-schema", text, ...json], { env });
      assert.deepEqual(
        [ended.code, result(ended)["subtype"], errorOf(ended).code, server.requests.length, "structured_output" in result(ended)],
        [2, "error_max_structured_output_retries", "output-schema", 3, false],
      );
    });
  }

  it("comes from a file, is in the result of a stream, and is what a text run prints", async () => {
    const file = join(tempFolder("schema"), "answer.schema.json");
    writeFileSync(file, text);
    const { env } = await model(() => ({ text: '{"n":3}' }), home);
    const stream = await run(["-p", "x", "--json-schema", file, "--output-format", "stream-json"], { env });
    assert.deepEqual([stream.code, result(stream)["structured_output"]], [0, { n: 3 }]);
    const plain = await run(["-p", "x", "--json-schema", file], { env });
    assert.deepEqual([plain.code, plain.stdout], [0, '{"n":3}\n']);
  });

  it("is answered in every permission mode", async () => {
    const { env } = await model(() => ({ text: '{"n":3}' }), home);
    for (const mode of ["plan", "default", "bypassPermissions"]) {
      const rights = ["--permission-mode", mode, "--allow-dangerously-skip-permissions"];
      assert.equal((await run(["-p", "x", "--json-schema", text, ...rights], { env })).code, 0, mode);
    }
  });

  it("is refused with exit 64 before anything is asked or stored", async () => {
    const own = tempFolder("own");
    const { env, server } = await model([{ text: "ok" }], own);
    const wrong = [
      "{",
      "[]",
      "no-such-file.json",
      '{"type":"strng"}',
      '{"$ref":"#/$defs/x"}',
      '{"$ref":"https://x.test/s.json"}',
      "null",
    ];
    for (const schema of wrong) {
      const ended = await run(["-p", "x", "--json-schema", schema, ...json], { env });
      assert.deepEqual([schema, ended.code, errorOf(ended).code], [schema, 64, "usage"]);
    }
    assert.deepEqual([server.requests.length, journals(own)], [0, []]);
  });

  it("gives way to the other limits", async () => {
    const { env } = await model(() => call({}), home);
    const ended = await run(["-p", "x", "--json-schema", text, "--max-turns", "1", ...json], { env });
    assert.deepEqual([ended.code, result(ended)["subtype"]], [75, "error_max_turns"]);
  });
});

describe("the limits of a session", () => {
  const usage = { inputTokens: 1000, outputTokens: 100 };
  const price = { input: 3, output: 15 };
  const catalogOverride = { models: [{ provider: "scripted", model: "scripted", price }] };
  const work = { calls: [{ name: "Glob", input: { pattern: "*" } }], usage };
  const done = { text: "Done.", usage };

  it("count the turns of each prompt by themselves, and money over all of them", async () => {
    const provider = createScriptedProvider([work, done, work, done, work, done]);
    const session = new InteractiveSession({ cwd: project, provider, catalogOverride, maxTurns: 2, maxBudgetUsd: 0.02 });
    const outcomes = [await session.submit("one"), await session.submit("two"), await session.submit("three")];
    await session.shutdown();
    assert.deepEqual(outcomes, [
      { type: "completed", text: "Done." },
      { type: "completed", text: "Done." },
      { type: "stopped", limit: "max-budget", text: "" },
    ]);
    assert.equal(provider.requests.length, 5);
  });

  it("are refused when they are no amounts, and leave no journal", async () => {
    for (const maxBudgetUsd of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const sessionStore = createMemoryStore();
      const session = new InteractiveSession({
        cwd: project,
        provider: createScriptedProvider([done]),
        maxBudgetUsd,
        sessionStore,
      });
      const outcome = await session.submit("go");
      await session.shutdown();
      assert.deepEqual([outcome.type === "failed" && outcome.error.code, await sessionStore.list()], ["usage", []]);
    }
  });
});
