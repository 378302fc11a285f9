import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { parseCsv } from "./csv.ts";
import { readTasks } from "./read-tasks.ts";
import { toUnits } from "./task.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-tasks-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function tasksOf(text: string, defaults = {}) {
  return await readTasks("-", { cwd: folder, defaults, stdin: async () => text });
}

describe("tables", () => {
  it("have quotes, line ends and commas inside quotes", () => {
    const rows = parseCsv('\uFEFFid,text\r\n1,"a, ""b""\r\nc"\r\n\r\n2,\n');
    assert.deepEqual(rows, [
      { id: "1", text: 'a, "b"\r\nc' },
      { id: "2", text: "" },
    ]);
  });
});

describe("tasks", () => {
  it("may begin with a byte order mark, as JSON lines and as a list", async () => {
    for (const text of ['\uFEFF{"prompt":"a"}\n{"prompt":"b"}\n', '\uFEFF[{"prompt":"a"},{"prompt":"b"}]'])
      assert.deepEqual(
        (await tasksOf(text)).map(({ prompt }) => prompt),
        ["a", "b"],
      );
  });

  it("have only columns of their own, and labels that are an object", async () => {
    await assert.rejects(tasksOf('{"prompt":"{{toString}}"}'), /has no column toString/);
    await assert.rejects(tasksOf('{"prompt":"a","labels":"words"}'), /labels must be an object/);
  });

  it("take what they do not say from the defaults, and keep other fields as labels", async () => {
    const [task] = await tasksOf('{"id":"a","prompt":"Fix {{title}}","title":"it","deadline":"2m","check":"true","cwd":"sub"}', {
      model: "opus",
      repetitions: 3,
    });
    assert.deepEqual(task, {
      model: "opus",
      repetitions: 3,
      id: "a",
      prompt: "Fix it",
      cwd: join(folder, "sub"),
      deadlineMs: 120_000,
      check: { command: "true" },
      labels: { title: "it" },
    });
  });

  it("become one unit for each model and repetition, round by round", async () => {
    const tasks = await tasksOf(
      '{"id":"a","prompt":"x","models":["m","n"],"repetitions":2}\n{"id":"b","prompt":"y","model":"m"}',
    );
    assert.deepEqual(
      toUnits(tasks).map(({ id }) => id),
      ["a@m#1", "a@n#1", "b", "a@m#2", "a@n#2"],
    );
  });

  it("are one run for a model that is named twice, and two runs of one name are refused", async () => {
    const twice = await tasksOf('{"id":"a","prompt":"x","models":["m","m"]}');
    assert.deepEqual(
      toUnits(twice).map(({ id }) => id),
      ["a"],
    );
    const alike = await tasksOf('{"id":"a#1","prompt":"x"}\n{"id":"a","prompt":"x","repetitions":2}');
    assert.throws(() => toUnits(alike), /Two runs would have the name "a#1"/);
  });

  it("may be more than a call takes arguments", () => {
    const tasks = Array.from({ length: 200_000 }, (_, at) => ({ id: String(at), prompt: "x" }));
    assert.equal(toUnits(tasks).length, 200_000);
  });

  it("come as a table from stdin too, where words stand for true and false", async () => {
    const tasks = await tasksOf("id,prompt,approvals,area\na,x,TRUE,b\nc,y,,d\n");
    assert.deepEqual(
      tasks.map(({ id, approvals, labels }) => ({ id, approvals, labels })),
      [
        { id: "a", approvals: true, labels: { area: "b" } },
        { id: "c", approvals: undefined, labels: { area: "d" } },
      ],
    );
    await assert.rejects(tasksOf("id,prompt,approvals\na,x,maybe\n"), /approvals: is true or false, not "maybe"/);
    await assert.rejects(tasksOf("Fix the first, then the second.\nThen rest.\n"), /stdin:1 is no JSON/);
  });

  it("are refused with the place and the nearest name", async () => {
    await assert.rejects(tasksOf('{"id":"a"}'), /stdin, task 1: task a has no prompt/);
    await assert.rejects(tasksOf('{"prompt":"x","max_turns":3}'), /has no field max_turns; did you mean maxTurns\?/);
    await assert.rejects(tasksOf('{"prompt":"x","maxTruns":3}'), /has no field maxTruns; did you mean maxTurns\?/);
    await assert.rejects(
      tasksOf('{"prompt":"x","disallowedTool":["Bash"]}'),
      /has no field disallowedTool; did you mean disallowedTools\?/,
    );
    const [labelled] = await tasksOf('{"prompt":"x","tool":"a","toolset":"b","prompt2":"c","mode":"d","labels":{"maxTruns":1}}');
    assert.deepEqual(labelled?.labels, { maxTruns: 1, tool: "a", toolset: "b", prompt2: "c", mode: "d" });
    await assert.rejects(tasksOf('{"prompt":"x","maxTurns":"many"}'), /maxTurns must be a whole number above 0/);
    await assert.rejects(tasksOf('{"id":"a","prompt":"x"}\n{"id":"a","prompt":"y"}'), /two tasks have the id "a"/);
    await assert.rejects(tasksOf('{"prompt":'), /stdin:1 is no JSON/);
    await assert.rejects(tasksOf("\n"), /holds no tasks/);
  });

  it("come from a Harbor task directory with its limits, its copy and its tests", async () => {
    const place = join(folder, "harbor/fix-it");
    mkdirSync(join(place, "tests"), { recursive: true });
    mkdirSync(join(place, "environment"));
    writeFileSync(join(place, "instruction.md"), "Write /app/x\n");
    writeFileSync(join(place, "task.toml"), 'version = "1.0"\n[verifier]\ntimeout_sec = 30.0\n[agent]\ntimeout_sec = 90\n');
    writeFileSync(join(place, "tests/test.sh"), "exit 0\n");
    const [task] = await readTasks(join(folder, "harbor"), { cwd: folder });
    assert.equal(task?.id, "fix-it");
    assert.equal(task?.seed, join(place, "environment"));
    assert.equal(task?.deadlineMs, 90_000);
    assert.deepEqual(
      { ...task?.check, command: undefined },
      {
        command: undefined,
        sandboxed: true,
        reward: true,
        timeoutMs: 30_000,
        mounts: { "/app": "WORK", "/tests": join(place, "tests") },
      },
    );
  });

  it("come from a Harbor task directory with braces in its words and a folder of its own to work in", async () => {
    const place = join(folder, "braces");
    for (const made of ["tests", "environment"]) mkdirSync(join(place, made), { recursive: true });
    writeFileSync(join(place, "instruction.md"), "Print {{ name }}\n");
    writeFileSync(join(place, "task.toml"), "");
    writeFileSync(join(place, "tests/test.sh"), "exit 0\n");
    const mountsOf = async (dockerfile: string): Promise<unknown> => {
      writeFileSync(join(place, "environment/Dockerfile"), dockerfile);
      const [task] = await readTasks(place, { cwd: folder });
      assert.match(task?.prompt ?? "", /^Print \{\{ name \}\}\n\nThe folder that is called \/[\w/]+ here is/);
      return Object.keys(task?.check?.mounts ?? {}).filter((path) => path !== "/tests");
    };
    assert.deepEqual(await mountsOf("FROM a\nWORKDIR /build\nFROM b\nWORKDIR /workspace\nWORKDIR src\n"), [
      "/app",
      "/workspace/src",
    ]);
    assert.deepEqual(await mountsOf("FROM a\nWORKDIR /usr/src/app\n"), ["/app"]);
    assert.deepEqual(await mountsOf("FROM a\n"), ["/app"]);
  });

  it("come from rows of SWE-bench with the base commit and the row's tests", async () => {
    const row = {
      instance_id: "o__r-1",
      repo: "o/r",
      base_commit: "abc",
      problem_statement: "It breaks: {{ form.x }}",
      test_patch: "diff --git a/t b/t\n",
      FAIL_TO_PASS: '["t.py::a"]',
      PASS_TO_PASS: ["t.py::b's"],
    };
    const [task] = await tasksOf(JSON.stringify(row));
    assert.equal(task?.prompt, "It breaks: {{ form.x }}");
    const [told] = await tasksOf(JSON.stringify(row), { prompt: "Mend {{repo}}: {{problem_statement}}" });
    assert.equal(told?.prompt, "Mend o/r: It breaks: {{ form.x }}");
    assert.deepEqual(task?.git, { repository: "https://github.com/o/r.git", commit: "abc" });
    assert.match(task?.check?.command ?? "", /git apply.*diff --git.*python3 -m pytest -q 't\.py::a' 't\.py::b'\\''s'$/s);
    assert.equal(task?.check?.sandboxed, true);
  });

  it("come from rows of SWE-bench whose lists Python has printed; other words are told with their place", async () => {
    const row = { instance_id: "i", repo: "o/r", base_commit: "abc", problem_statement: "p" };
    const commandOf = async (tests: unknown): Promise<string | undefined> => {
      const [task] = await tasksOf(JSON.stringify({ ...row, FAIL_TO_PASS: tests }));
      return task?.check?.command.split("pytest -q ")[1];
    };
    assert.equal(await commandOf(`['t.py::a', "b's", 'c\\\\d',]`), `'t.py::a' 'b'\\''s' 'c\\d'`);
    assert.equal(await commandOf("[]"), "");
    assert.equal(await commandOf(null), "");
    await assert.rejects(commandOf("t.py::a"), /stdin, task 1: FAIL_TO_PASS must be a list of names, not "t.py::a"/);
    await assert.rejects(commandOf("['a', b]"), /must be a list of names/);
    await assert.rejects(commandOf({ a: 1 }), /must be a list of names/);
  });

  it("come from rows of SWE-bench whose repository lies beside them", async () => {
    mkdirSync(join(folder, "own/copy"), { recursive: true });
    const row = { instance_id: "i", repo: "own/copy", base_commit: "abc", problem_statement: "p" };
    const [task] = await tasksOf(JSON.stringify(row));
    assert.equal(task?.git?.repository, join(folder, "own/copy"));
  });
});
