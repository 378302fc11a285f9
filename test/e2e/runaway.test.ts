import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ServerStep } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, type Run, run, tempFolder } from "./command.ts";

const home = tempFolder("home");
const project = tempFolder("project");
const json = ["--output-format", "json"];

function result({ stdout }: Run): Record<string, unknown> {
  const frames = lines(stdout).filter((frame) => frame["type"] === "result");
  assert.equal(frames.length, 1, stdout);
  return frames[0] ?? {};
}

const forever = (step: ServerStep): ServerStep[] => new Array<ServerStep>(200).fill(step);

describe("a model whose window is always full", () => {
  const full: ServerStep = { text: "x", finish: "context-overflow" };
  const refused: ServerStep = {
    fail: { code: "context-overflow", message: "prompt is too long: 250000 tokens > 200000 maximum" },
  };

  for (const [name, step, asked] of [
    ["says so at the end of its answers", full, 2],
    ["refuses requests", refused, 1],
  ] as const) {
    it(`${name}: a short conversation ends after a summary that is refused too, if there is anything to summarise`, async () => {
      const { env, server } = await model(forever(step), home);
      const ended = await run(["-p", "go", ...json], { env, cwd: project });
      const { terminal_reason, error } = result(ended);
      assert.deepEqual(
        [ended.code, terminal_reason, (error as { code: string }).code, server.requests.length],
        [1, "prompt_too_long", "context-overflow", asked],
      );
    });

    it(`${name}: a long conversation ends when its summary is refused too`, async () => {
      const { env, server } = await model([{ text: "word ".repeat(4_000) }, ...forever(step)], home);
      const id = `long-${name.split(" ")[0]}`;
      assert.equal((await run(["-p", "one", "--session-id", id, ...json], { env, cwd: project })).code, 0);
      const ended = await run(["-p", "two", "--resume", id, ...json], { env, cwd: project });
      assert.deepEqual([ended.code, result(ended)["terminal_reason"]], [1, "prompt_too_long"]);
      // The request, and its record in parts that get smaller: whole, halves, quarters, eighths.
      assert.equal(server.requests.length <= 1 + 1 + 4, true, `${server.requests.length} requests`);
    });
  }

  it("and summarises well: one summary for one request, and no summary of it", async () => {
    const isSummary = (body: string): boolean => body.includes("You write the summary that takes the place");
    const step: ServerStep = ({ body }) =>
      isSummary(JSON.stringify(body)) ? { text: "short" } : { text: "x", finish: "context-overflow" };
    const { env, server } = await model([{ text: "word ".repeat(4_000) }, ...forever(step)], home);
    assert.equal((await run(["-p", "one", "--session-id", "well", ...json], { env, cwd: project })).code, 0);
    const ended = await run(["-p", "two", "--resume", "well", ...json], { env, cwd: project });
    assert.deepEqual([ended.code, result(ended)["terminal_reason"], server.requests.length], [1, "prompt_too_long", 1 + 3]);
  });
});

describe("a model that goes round in circles", () => {
  const circles: [string, ServerStep, string[]][] = [
    ["with a call that is denied", { text: "again", calls: [{ name: "Bash", input: { command: "rm -rf build" } }] }, []],
    ["with a call that fails", { text: "again", calls: [{ name: "Read", input: { file_path: "none.txt" } }] }, []],
    [
      "with a call that works",
      { text: "again", calls: [{ name: "Bash", input: { command: "true" } }] },
      ["--allowedTools", "Bash"],
    ],
    ["with a tool that is not there", { text: "again", calls: [{ name: "Wrte", input: {} }] }, []],
    [
      "with a long result",
      { text: "again", calls: [{ name: "Bash", input: { command: "seq 100000" } }] },
      ["--allowedTools", "Bash"],
    ],
  ];
  for (const [name, step, flags] of circles) {
    it(`${name} is told at the third time and stopped at the sixth`, async () => {
      const { env, server } = await model(forever(step), home);
      const ended = await run(["-p", "go", ...flags, ...json], { env, cwd: project });
      const { subtype, is_error, terminal_reason, num_turns, last_assistant_text, error } = result(ended);
      assert.deepEqual(
        { code: ended.code, subtype, is_error, terminal_reason, num_turns, last_assistant_text },
        {
          code: 76,
          subtype: "error_during_execution",
          is_error: true,
          terminal_reason: "loop",
          num_turns: 6,
          last_assistant_text: "again",
        },
      );
      assert.match(JSON.stringify(error), /"code":"loop".*called 6 times with the same input/);
      assert.match(ended.stderr, /called 6 times with the same input.*--loop-stop/);
      const told = server.requests.map(
        ({ body }) => JSON.stringify(body).match(/You have made this call \d times/g)?.length ?? 0,
      );
      assert.deepEqual(told, [0, 0, 0, 1, 2, 3]);
    });
  }

  it("with two calls in turn is stopped too", async () => {
    const step: ServerStep = (_, index) => ({ calls: [{ name: "Read", input: { file_path: `none-${index % 2}.txt` } }] });
    const { env, server } = await model(forever(step), home);
    const ended = await run(["-p", "go", ...json], { env, cwd: project });
    assert.deepEqual([ended.code, server.requests.length], [76, 11]);
  });

  it("with calls that are all denied is stopped, however they differ", async () => {
    const step: ServerStep = (_, index) => ({ calls: [{ name: "Bash", input: { command: `rm -rf build-${index}` } }] });
    const { env, server } = await model(forever(step), home);
    const ended = await run(["-p", "go", ...json], { env, cwd: project });
    assert.deepEqual([ended.code, server.requests.length, result(ended)["terminal_reason"]], [76, 30, "loop"]);
    assert.match(ended.stderr, /all calls of 30 answers in a row were denied or failed.*--loop-stop/);
  });

  it("is no circle where something is changed in between", async () => {
    const place = tempFolder("changes");
    writeFileSync(join(place, "a.txt"), "0");
    const step: ServerStep = (_, index) =>
      index === 20
        ? { text: "done" }
        : index % 2
          ? { calls: [{ name: "Bash", input: { command: "echo test failed; exit 1" } }] }
          : { calls: [{ name: "Bash", input: { command: `echo ${index} > a.txt` } }] };
    const { env } = await model(forever(step), home);
    const ended = await run(["-p", "go", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", ...json], {
      env,
      cwd: place,
    });
    assert.deepEqual([ended.code, result(ended)["num_turns"]], [0, 21], ended.stdout);
  });

  const again: ServerStep = { calls: [{ name: "Read", input: { file_path: "none.txt" } }] };
  const many = [...new Array<ServerStep>(12).fill(again), { text: "done" }];

  it("may be let, told and stopped at other numbers, by flag and by setting", async () => {
    const place = tempFolder("own-home");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "settings.json"), JSON.stringify({ loops: { noteAt: 0, stopAt: 4 } }));
    const cases: [string, string[], string, [number, number, boolean]][] = [
      ["off", ["--loop-stop", "0"], home, [0, 13, true]],
      ["both off", ["--loop-stop", "0", "--loop-note", "0"], home, [0, 13, false]],
      ["sooner", ["--loop-stop", "2"], home, [76, 2, false]],
      ["a setting", [], place, [76, 4, false]],
      ["the flag is above it", ["--loop-stop", "0"], place, [0, 13, false]],
    ];
    for (const [name, flags, at, expected] of cases) {
      const { env, server } = await model(many, at);
      const { code } = await run(["-p", "go", ...flags, ...json], { env, cwd: project });
      const isTold = JSON.stringify(server.requests.at(-1)?.body).includes("You have made this call");
      assert.deepEqual([code, server.requests.length, isTold], expected, name);
    }
  });

  for (const text of ["1", "-1", "x", "2.5", ""]) {
    it(`is not stopped at ${JSON.stringify(text)} times`, async () => {
      const { env, server } = await model(many, home);
      for (const flag of ["--loop-stop", "--loop-note"]) {
        const ended = await run(["-p", "go", `${flag}=${text}`, ...json], { env, cwd: project });
        assert.deepEqual([ended.code, server.requests.length], [64, 0], flag);
      }
    });
  }

  it("is told in every format", async () => {
    const formats: [string[], RegExp][] = [
      [["--output-format", "text"], /^$/],
      [["--output-format", "stream-json"], /"terminal_reason":"loop"/],
      [
        ["--output-format", "stream-json", "--flavor", "caliban"],
        /"subtype":"error".*"error":"Stopped going round in circles: Read was/,
      ],
      [["--output-format", "atif-jsonl"], /"code":"LOOP"/],
    ];
    for (const [flags, expected] of formats) {
      const { env } = await model(many, home);
      const ended = await run(["-p", "go", ...flags], { env, cwd: project });
      assert.deepEqual([ended.code, expected.test(ended.stdout.trim().split("\n").at(-1) ?? "")], [76, true], ended.stdout);
    }
  });
});

describe("--max-requests", () => {
  it("bounds everything one prompt causes, with exit code 75", async () => {
    const step: ServerStep = (_, index) => ({ text: "on", calls: [{ name: "Read", input: { file_path: `${index}.txt` } }] });
    const { env, server } = await model(forever(step), home);
    const ended = await run(["-p", "go", "--max-requests", "7", ...json], { env, cwd: project });
    const { subtype, terminal_reason, num_turns } = result(ended);
    assert.deepEqual(
      [ended.code, subtype, terminal_reason, num_turns, server.requests.length],
      [75, "error_max_turns", "max_requests", 7, 7],
    );
    assert.match(ended.stderr, /--max-requests/);
  });

  it("counts tries again", async () => {
    const { env, server } = await model(forever({ status: 529, body: "{}" } as ServerStep), home);
    const ended = await run(["-p", "go", "--max-requests", "3", ...json], { env, cwd: project });
    assert.deepEqual([ended.code, server.requests.length], [75, 3], ended.stdout);
  });
});
