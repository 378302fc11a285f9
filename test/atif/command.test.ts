import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { validateTrajectory } from "../../packages/runtime/src/transports/atif/check/validate.ts";
import { eventually, lines, model, run, start, tempFolder } from "../e2e/command.ts";
import { loadReference } from "./reference.ts";

const reference = await loadReference();
const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 50 };
const read = { name: "Read", input: { file_path: "a.txt" } };

type Written = {
  schema_version: string;
  session_id: string;
  steps: Record<string, unknown>[];
  final_metrics: Record<string, unknown>;
  extra: Record<string, unknown>;
};
const load = (path: string): Written => JSON.parse(readFileSync(path, "utf8"));

async function place(replies: Parameters<typeof model>[0]) {
  const cwd = tempFolder("trajectory");
  writeFileSync(join(cwd, "a.txt"), "hi\n");
  const { env, server } = await model(replies, join(cwd, "home"));
  return { cwd, env, server, path: join(cwd, "logs/trajectory.json") };
}

describe("outrider --trajectory", () => {
  it("leaves a valid trajectory with the costs of every step", async () => {
    const { cwd, env, path } = await place([
      { text: "Looking.", calls: [read], usage },
      { text: "It says hi.", usage },
    ]);
    const ran = await run(["-p", "What is in a.txt?", "--trajectory", path], { cwd, env });
    assert.deepEqual([ran.code, ran.stdout], [0, "It says hi.\n"]);
    const written = load(path);
    assert.deepEqual(reference(written, { mode: "strict", dir: join(cwd, "logs") }), {
      ok: true,
      errors: [],
      warnings: [],
      target: "1.7",
    });
    assert.deepEqual(
      [written.steps.length, written.final_metrics["total_prompt_tokens"], written.extra["outcome"]],
      [4, 200, { status: "completed" }],
    );
    assert.ok(Number(written.final_metrics["total_cost_usd"]) > 0);
    const older = await run(["-p", "Go", "--trajectory", path, "--atif-version", "1.4"], { cwd, env });
    assert.deepEqual([older.code, load(path).schema_version], [1, "ATIF-v1.4"]); // the script has no more replies
  });

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`has every step so far after ${signal}`, async () => {
      const { cwd, env, path } = await place([
        { text: "Looking.", calls: [read], usage },
        { text: "Once upon", hang: true },
      ]);
      const { child, done } = start(["-p", "Go", "--trajectory", path], { cwd, env });
      await eventually(
        () => existsSync(path) && load(path).steps.at(-1)?.["observation"] !== undefined,
        "the step with its result is on disk",
      );
      child.kill(signal);
      const ended = await done;
      const written = load(path);
      assert.deepEqual(validateTrajectory(written).problems, []);
      if (signal === "SIGTERM")
        assert.deepEqual([ended.code, written.extra["outcome"]], [124, { status: "cancelled", stop_reason: "signal" }]);
      else assert.deepEqual([ended.signal, written.steps.length], ["SIGKILL", 3]);
    });
  }

  it("asks nobody when it cannot be written", async () => {
    const { cwd, env, server } = await place([{ text: "never" }]);
    const ran = await run(["-p", "Go", "--trajectory", join(cwd, "a.txt/t.json")], { cwd, env });
    assert.deepEqual([ran.code, server.requests.length], [78, 0]);
    assert.match(ran.stderr, /cannot be written/);
  });

  it("leaves outputs of several prompts their one result", async () => {
    const { cwd, env, path } = await place([
      { text: "One.", usage },
      { text: "Two.", usage },
    ]);
    const words = [
      "--input-format",
      "stream-json",
      "--output-format",
      "stream-json",
      "--flavor",
      "caliban",
      "--trajectory",
      path,
    ];
    const prompt = (content: string): string => `${JSON.stringify({ type: "user", content })}\n`;
    const ran = await run(words, { cwd, env, stdin: prompt("First") + prompt("Second") });
    assert.deepEqual(
      [ran.code, lines(ran.stdout).map(({ type, result }) => result ?? type)],
      [0, ["system", "message", "message", "Two."]],
    );
    assert.deepEqual(
      load(path).steps.flatMap(({ source, message }) => (source === "system" ? [] : [message])),
      ["First", "One.", "Second", "Two."],
    );
  });
});

describe("outrider --output-format atif-jsonl", () => {
  it("writes a line per step", async () => {
    const { cwd, env } = await place([
      { calls: [read], usage },
      { text: "It says hi.", usage },
    ]);
    const ran = await run(["-p", "Go", "--output-format", "atif-jsonl"], { cwd, env });
    assert.equal(ran.code, 0);
    assert.deepEqual(
      lines(ran.stdout).map(({ type, source, phase }) => [type, source ?? phase]),
      [
        ["metadata", undefined],
        ["step", "user"],
        ["turn-start", "new-turn"],
        ["step", "agent"],
        ["turn-start", "intermediate-step"],
        ["step", "agent"],
      ],
    );
  });

  it("says what kept a run from starting", async () => {
    const { cwd, env } = await place([]);
    const ran = await run(["-p", "Go", "--output-format", "atif-jsonl", "--cwd", join(cwd, "none")], { cwd, env });
    assert.equal(ran.code, 64);
  });
});

describe("outrider trajectory", () => {
  it("exports a stored session, and finds it valid", async () => {
    const { cwd, env, path } = await place([
      { calls: [read], usage },
      { text: "It says hi.", usage },
    ]);
    const id = "11111111-1111-4111-8111-111111111111";
    await run(["-p", "Go", "--session-id", id], { cwd, env });
    const exported = await run(["trajectory", "export", id, "--output", path], { cwd, env });
    assert.deepEqual([exported.code, load(path).session_id], [0, id]);
    const printed = await run(["trajectory", "export", id, "--atif-version=1.4"], { cwd, env });
    assert.equal(JSON.parse(printed.stdout).schema_version, "ATIF-v1.4");
    const again = await run(["trajectory", "export", id, "--output", path], { cwd, env });
    assert.deepEqual([again.code, /exists already/.test(again.stderr)], [64, true]);
    const judged = await run(["trajectory", "validate", path], { cwd, env });
    assert.deepEqual([judged.code, judged.stdout], [0, `${path}: valid ATIF-v1.7\n`]);
    assert.equal((await run(["trajectory", "export", "nobody"], { cwd, env })).code, 66);
  });

  it("lists what is wrong with a file and where, with exit code 1", async () => {
    const { cwd, env } = await place([]);
    writeFileSync(
      join(cwd, "bad.json"),
      JSON.stringify({
        schema_version: "ATIF-v1.7",
        session_id: "s",
        agent: { name: "a" },
        steps: [{ step_id: 2, source: "robot", message: "x" }],
      }),
    );
    const judged = await run(["trajectory", "validate", "bad.json"], { cwd, env });
    assert.equal(judged.code, 1);
    assert.deepEqual(judged.stdout.split("\n").slice(0, 4), [
      "bad.json: not valid as ATIF-v1.7: 3 problems",
      "  trajectory.agent.version: the field is missing [required]",
      '  trajectory.steps[0].source: must be "system", "user" or "agent" [enum]',
      "  trajectory.steps[0].step_id: expected 1, as steps are numbered from 1, got 2 [step-id]",
    ]);
    assert.equal((await run(["trajectory", "validate", "none.json"], { cwd, env })).code, 66);
    const good = JSON.stringify({
      schema_version: "ATIF-v1.7",
      session_id: "s",
      agent: { name: "a", version: "1" },
      steps: [{ step_id: 1, source: "user", message: "x" }],
    });
    writeFileSync(join(cwd, "torn.json"), good.slice(0, 40));
    const both = await run(["trajectory", "validate", "torn.json", "-"], { cwd, env, stdin: good });
    assert.deepEqual(
      [both.code, both.stdout.split("\n").filter((line) => !line.startsWith(" "))],
      [1, ["torn.json: not valid: 1 problem", "-: valid ATIF-v1.7", ""]],
    );
    assert.match(both.stdout, /trajectory: torn\.json is no JSON/);
    assert.equal((await run(["trajectory", "frobnicate"], { cwd, env })).code, 64);
  });
});

describe("outrider --load-trajectory", () => {
  it("goes on where a trajectory ends, and tells the rest as copied", async () => {
    const { cwd, env, server, path } = await place([{ text: "Still blue.", usage }]);
    const given = {
      schema_version: "ATIF-v1.6",
      session_id: "other",
      agent: { name: "other", version: "1" },
      steps: [
        { step_id: 1, source: "user", message: "What colour is it?" },
        { step_id: 2, source: "agent", message: "Blue.", metrics: { prompt_tokens: 7, completion_tokens: 1 } },
      ],
    };
    writeFileSync(join(cwd, "given.json"), JSON.stringify(given));
    const ran = await run(["-p", "And now?", "--load-trajectory", "given.json", "--trajectory", path], { cwd, env });
    assert.deepEqual([ran.code, ran.stdout], [0, "Still blue.\n"]);
    const [request] = server.requests;
    assert.ok(request);
    const { messages } = request.body as { messages: { role: string; content: { text: string }[] }[] };
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content[0]?.text]),
      [
        ["user", "What colour is it?"],
        ["assistant", "Blue."],
        ["user", "And now?"],
      ],
    );
    const written = load(path);
    assert.deepEqual(validateTrajectory(written).problems, []);
    assert.deepEqual(
      [written.steps.filter((step) => step["is_copied_context"] === true).length, written.final_metrics["total_prompt_tokens"]],
      [2, 100],
    );
    assert.deepEqual(
      written.steps
        .map(({ source, message, extra: _, ...step }) => [source, message, step["timestamp"] !== undefined])
        .slice(0, 2),
      [
        ["user", "What colour is it?", false],
        ["agent", "Blue.", false],
      ],
    );
    const shown = await run(["sessions", "show", written.session_id, "--json"], { cwd, env });
    const { spent } = JSON.parse(shown.stdout) as { spent: { costUsd: number | null; modelCalls: number } };
    assert.deepEqual([spent.costUsd, spent.modelCalls], [written.final_metrics["total_cost_usd"], 1]);
    assert.ok(Number(spent.costUsd) > 0, "nobody knows the price of the imported model, and it was not paid here");
    writeFileSync(join(cwd, "given.json"), JSON.stringify({ ...given, steps: [] }));
    const refused = await run(["-p", "And now?", "--load-trajectory", "given.json"], { cwd, env });
    assert.deepEqual([refused.code, /trajectory\.steps: a trajectory has at least one step/.test(refused.stderr)], [78, true]);
  });
});
