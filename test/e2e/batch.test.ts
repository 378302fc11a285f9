import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startEffects, startWorker, taskLines } from "./batch-model.ts";
import { eventually, lines, model, projectRoot, run, start, tempFolder } from "./command.ts";

function resultsIn(out: string): Record<string, unknown>[] {
  return lines(readFileSync(join(out, "results.jsonl"), "utf8"));
}

function repository(folder: string): string {
  const place = join(folder, "source");
  mkdirSync(place);
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: place, encoding: "utf8" });
  git("init", "-q", "-b", "main");
  writeFileSync(join(place, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(join(place, "a.txt"), "two\n");
  git("commit", "-qam", "second");
  return place;
}

describe("outrider batch", () => {
  it("runs each task with each model in a checkout of its own, and judges it by its check", async () => {
    const folder = tempFolder("batch");
    const source = repository(folder);
    const write = { name: "Write", input: { file_path: "hello.txt", content: "hi\n" } };
    writeFileSync(join(folder, "good.json"), JSON.stringify([{ calls: [write] }, { text: "Done." }]));
    writeFileSync(join(folder, "lazy.json"), JSON.stringify([{ text: "No." }]));
    const models = ["good", "lazy"].map((name) => `scripted/${join(folder, name)}.json`);
    const task = { id: "greet", prompt: "Write hello.txt", git: { repository: "source", commit: "main~1" }, models };
    const check = "grep -q hi hello.txt && grep -q one a.txt";
    const tasks = [{ ...task, allowedTools: ["Write"], check, repetitions: 2, area: "files" }];
    writeFileSync(join(folder, "tasks.jsonl"), tasks.map((one) => JSON.stringify(one)).join("\n"));
    const out = join(folder, "out");
    const { code, stdout } = await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet"]);
    const results = resultsIn(out);
    assert.equal(code, 1);
    assert.match(stdout, /4 of 4 done: 2 passed, 2 not/);
    assert.deepEqual(
      results.map(({ unit_id, status, failure, labels }) => [unit_id, status, failure ?? null, labels]).sort(),
      models
        .flatMap((name, at) =>
          [1, 2].map((round) => [
            `greet@${name}#${round}`,
            at === 0 ? "passed" : "failed",
            at === 0 ? null : "check",
            { area: "files" },
          ]),
        )
        .sort(),
    );
    for (const { session_id, passed } of results) {
      assert.ok(existsSync(join(out, "journals", `${session_id}.jsonl`)));
      assert.ok(existsSync(join(out, "trajectories", `${session_id}.json`)));
      assert.equal(existsSync(join(out, "patches", `${session_id}.patch`)), passed);
    }
    assert.match(readFileSync(join(out, "junit.xml"), "utf8"), /<testsuite [^>]*lazy[^>]* tests="2" failures="2"/);
    assert.equal(execFileSync("git", ["status", "--porcelain"], { cwd: source, encoding: "utf8" }), "");
    assert.deepEqual(readdirSync(join(out, "workspaces")), []);
  });

  it("runs the example, of which pages are made", async () => {
    const out = join(tempFolder("batch-example"), "results");
    const cwd = join(projectRoot, "examples/batch");
    const ended = await run(["batch", "tasks.jsonl", "--out", out, "--bare", "--quiet"], { cwd });
    assert.equal(ended.code, 1);
    assert.match(ended.stdout, /diligent\.json +3\/3 .*\n.*hasty\.json +1\/3 /);
    const report = await run(["report", join(out, "journals"), "-o", join(out, "report")], { cwd });
    assert.equal(report.code, 0, report.stderr);
    assert.match(report.stderr, /^6 runs: written to/m);
    const pages = (folder: string): string[] => readdirSync(join(folder, "report"), { recursive: true, encoding: "utf8" }).sort();
    const again = `${out}-again`;
    const own = await run(["batch", "tasks.jsonl", "--out", again, "--bare", "--quiet", "--report"], { cwd });
    assert.deepEqual([own.code, pages(again)], [1, pages(out)], own.stderr);
    assert.equal(pages(out).length, 8); // six pages, their list and their folder
  });

  it("takes tasks from a table with a template, and from stdin", async () => {
    const folder = tempFolder("batch-csv");
    writeFileSync(join(folder, "echo.json"), '[{"text":"Fine."}]');
    writeFileSync(join(folder, "issues.csv"), 'id,title\na,"Broken, ""badly"""\nb,Slow\n');
    const flags = ["--model", `scripted/${join(folder, "echo.json")}`, "--quiet", "--bare"];
    const table = await run([
      "batch",
      join(folder, "issues.csv"),
      "--prompt",
      "Fix: {{title}}",
      "--out",
      join(folder, "r1"),
      ...flags,
    ]);
    assert.equal(table.code, 0, table.stderr);
    const prompts = lines(readFileSync(join(folder, "r1/queue.jsonl"), "utf8")).flatMap(
      ({ unit }) => Object(unit).task?.prompt ?? [],
    );
    assert.deepEqual(prompts, ['Fix: Broken, "badly"', "Fix: Slow"]);
    const stdin = '{"prompt":"One"}\n{"prompt":"Two"}\n';
    const piped = await run(["batch", "-", "--out", join(folder, "r2"), ...flags], { stdin, cwd: folder });
    assert.equal(piped.code, 0, piped.stderr);
    assert.deepEqual(
      resultsIn(join(folder, "r2"))
        .map(({ task_id, result }) => [task_id, result])
        .sort(),
      [
        ["1", "Fine."],
        ["2", "Fine."],
      ],
    );
    const wrong = await run([
      "batch",
      join(folder, "issues.csv"),
      "--prompt",
      "{{titel}}",
      "--out",
      join(folder, "r3"),
      ...flags,
    ]);
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /has no column titel; did you mean title\?/);
    const again = await run(["batch", join(folder, "issues.csv"), "--prompt", "x", "--out", join(folder, "r1"), ...flags]);
    assert.equal(again.code, 64);
    assert.match(again.stderr, /holds a batch already/);
  });

  it("never begins a request when the budget is spent, and goes on with more", async () => {
    const folder = tempFolder("batch-budget");
    const { env, server } = await model(
      () => ({ text: "Done.", usage: { inputTokens: 0, outputTokens: 1_000 } }),
      join(folder, "home"),
    );
    mkdirSync(join(folder, "home"), { recursive: true });
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(30));
    const out = join(folder, "out");
    // claude-haiku-4-5: 5 dollars per million tokens it writes: half a cent each.
    const flags = ["--model", "claude-haiku-4-5", "--out", out, "--quiet"];
    const first = await run(["batch", join(folder, "tasks.jsonl"), "--max-budget", "0.05", "--concurrency", "3", ...flags], {
      env,
    });
    assert.equal(first.code, 137, first.stderr);
    const asked = server.requests.length;
    assert.ok(asked >= 10 && asked <= 12, `${asked} requests for a budget of ten, with three at once`);
    const second = await run(["batch", "--resume", "--max-budget", "1", ...flags], { env });
    assert.equal(second.code, 0, second.stderr);
    assert.equal(new Set(resultsIn(out).map(({ unit_id }) => unit_id)).size, 30);
    assert.ok(server.requests.length <= 32);
  });

  it("goes on in a folder that is named from where one stands, and keeps what was changed there", async () => {
    const folder = tempFolder("batch-relative");
    mkdirSync(join(folder, "seed"));
    const write = { name: "Write", input: { file_path: "hello.txt", content: "hi\n" } };
    writeFileSync(join(folder, "reply.json"), JSON.stringify([{ calls: [write] }, { text: "Done." }]));
    const task = { seed: "seed", model: `scripted/${join(folder, "reply.json")}`, allowedTools: ["Write"] };
    const tasks = [
      { ...task, id: "a", prompt: "Write", check: "false" },
      { ...task, id: "b", prompt: "Write", check: "true" },
    ];
    writeFileSync(join(folder, "tasks.jsonl"), tasks.map((one) => JSON.stringify(one)).join("\n"));
    const at = { cwd: folder };
    const began = await run(["batch", "tasks.jsonl", "--out", "r", "--concurrency", "1", "--fail-fast", "--quiet"], at);
    assert.equal(began.code, 1, began.stderr);
    const statuses = (): string[] => resultsIn(join(folder, "r")).map(({ unit_id, status }) => `${unit_id} ${status}`);
    assert.deepEqual(statuses(), ["a failed"]);
    await run(["batch", "--resume", "--out", "r", "--quiet"], at);
    assert.deepEqual(statuses(), ["a failed", "b passed"]);
    assert.ok(existsSync(join(folder, "r/patches/b.patch")));
    await run(["batch", "retry", "r", "--quiet"], at);
    assert.deepEqual(statuses(), ["b passed", "a failed"]);
    const [again] = resultsIn(join(folder, "r")).slice(-1);
    assert.ok(existsSync(join(folder, `r/patches/${String(again?.["session_id"])}.patch`)));
  });

  it("tries provider failures again, ends at the first failure if asked to, and runs again what did not pass", async () => {
    const folder = tempFolder("batch-retry");
    let isBroken = true;
    const { env } = await model(
      ({ body }) => {
        const isBad = JSON.stringify(body).includes("TASK t2");
        return isBad && isBroken
          ? { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "no" } } }
          : { text: "Done." };
      },
      join(folder, "home"),
    );
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(4));
    const out = join(folder, "out");
    const flags = ["--concurrency", "1", "--fail-fast", "--retry", "provider-bad-request=1"];
    const first = await run(["batch", join(folder, "tasks.jsonl"), "--out", out, ...flags], { env });
    assert.equal(first.code, 1);
    assert.match(first.stderr, /again {3}t2: provider-bad-request, attempt 2/);
    const status = await run(["batch", "status", out, "--json"], { env });
    assert.deepEqual(
      JSON.parse(status.stdout).units.map((unit: { state: string }) => unit.state),
      ["passed", "error", "passed", "passed"], // a unit that is tried again goes to the end of the line
    );
    isBroken = false;
    const second = await run(["batch", "retry", out, "--quiet"], { env });
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(
      resultsIn(out)
        .map(({ unit_id, status }) => `${unit_id} ${status}`)
        .sort(),
      ["t1 passed", "t2 passed", "t3 passed", "t4 passed"],
    );
  });

  it("stops in order at a signal, and goes on from the journals", async () => {
    const folder = tempFolder("batch-stop");
    const effects = await startEffects();
    const { env } = await startWorker(join(folder, "home"), { url: effects.url, steps: 3, delayMs: 150 });
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(6, { allowedTools: ["Bash"] }));
    const out = join(folder, "out");
    const { child, done } = start(["batch", join(folder, "tasks.jsonl"), "--out", out, "--concurrency", "3"], { env });
    await eventually(() => effects.total() >= 2, "the first effects");
    child.kill("SIGTERM");
    const stopped = await done;
    assert.equal(stopped.code, 124, stopped.stderr);
    assert.match(stopped.stderr, /It was stopped: \d left/);
    const second = await run(["batch", "--resume", "--out", out, "--quiet"], { env });
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(
      resultsIn(out)
        .map(({ unit_id, result }) => `${unit_id}: ${result}`)
        .sort(),
      [1, 2, 3, 4, 5, 6].map((n) => `t${n}: Task t${n} is done.`),
    );
    for (const n of [1, 2, 3, 4, 5, 6]) for (const step of [1, 2, 3]) assert.ok(effects.count(`t${n}`, step) <= 1);
  });

  it("says what was wrong with a task that could not be done, not only its kind", async () => {
    const folder = tempFolder("batch-wrong");
    const { env } = await model(() => ({ text: "Done." }), join(folder, "home"));
    const tasks = [
      { id: "a", prompt: "p", cwd: "nowhere" },
      { id: "b", prompt: "p", git: { repository: "none", commit: "HEAD" } },
    ];
    writeFileSync(join(folder, "tasks.jsonl"), tasks.map((task) => JSON.stringify(task)).join("\n"));
    const { code, stderr } = await run(["batch", join(folder, "tasks.jsonl"), "--out", join(folder, "out")], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^error {5}a .*: usage \(.*nowhere/m);
    assert.match(stderr, /^error {5}b .*: config \(git clone failed: .*none/m);
  });

  it("refuses names that no task has, and kinds that nothing fails with", async () => {
    const folder = tempFolder("batch-names");
    const { env } = await model(() => ({ text: "Done." }), join(folder, "home"));
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(2));
    const out = join(folder, "out");
    const wrong = await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--retry", "chek=2"], { env });
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /Nothing fails with chek; did you mean check\?/);
    assert.equal(existsSync(out), false);
    assert.equal((await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet"], { env })).code, 0);
    for (const word of ["cancel", "retry"]) {
      const refused = await run(["batch", word, out, "t22"], { env });
      assert.match(refused.stderr, /The batch has no task t22; did you mean t2\?/);
      assert.notEqual(refused.code, 0);
    }
  });

  it("runs a finished task again that is in a checkout, in a folder that is named from here, whatever was cancelled before", async () => {
    const cwd = tempFolder("batch-again");
    const task = {
      id: "greet",
      prompt: "Write hello.txt",
      git: repository(cwd),
      model: "scripted/write.json",
      allowedTools: ["Write"],
    };
    const calls = [{ name: "Write", input: { file_path: "hello.txt", content: "hi\n" } }];
    writeFileSync(join(cwd, "write.json"), JSON.stringify([{ calls }, { text: "Done." }]));
    writeFileSync(join(cwd, "tasks.jsonl"), JSON.stringify(task));
    assert.equal((await run(["batch", "tasks.jsonl", "--out", "out", "--quiet"], { cwd })).code, 0);
    const cancelled = await run(["batch", "cancel", "out"], { cwd });
    assert.match(cancelled.stdout, /finished: nothing is cancelled/);
    const again = await run(["batch", "retry", "out", "greet", "--quiet"], { cwd });
    assert.equal(again.code, 0, again.stdout);
    const [{ session_id, status, attempt } = {}] = resultsIn(join(cwd, "out"));
    assert.deepEqual({ status, attempt }, { status: "passed", attempt: 2 });
    assert.ok(existsSync(join(cwd, "out", "patches", `${session_id}.patch`)));
  });

  it("cancels what is not finished, from another process", async () => {
    const folder = tempFolder("batch-cancel");
    const { env } = await model(
      ({ body }) => (JSON.stringify(body).includes("TASK t1") ? { text: "Done." } : { text: "late", hang: true }),
      join(folder, "home"),
    );
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(4));
    const out = join(folder, "out");
    const { done } = start(["batch", join(folder, "tasks.jsonl"), "--out", out, "--concurrency", "2", "--quiet"], { env });
    await eventually(() => existsSync(join(out, "results.jsonl")) && resultsIn(out).length === 1, "the first result");
    const cancelled = await run(["batch", "cancel", out], { env });
    assert.equal(cancelled.code, 0, cancelled.stderr);
    const { code } = await done;
    assert.equal(code, 1);
    assert.deepEqual(
      resultsIn(out)
        .map(({ unit_id, status }) => `${unit_id} ${status}`)
        .sort(),
      ["t1 passed", "t2 cancelled", "t3 cancelled", "t4 cancelled"],
    );
  });
});

describe("a task of a batch", () => {
  it("stays in its checkout, wherever its cwd would lead", async () => {
    const folder = tempFolder("batch");
    const source = repository(folder);
    execFileSync("ln", ["-s", folder, join(source, "way-out")]);
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "add", "-A"], { cwd: source });
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "link"], { cwd: source });
    writeFileSync(join(folder, "script.json"), JSON.stringify([{ text: "Done." }]));
    const task = { prompt: "x", git: "source#main", model: `scripted/${join(folder, "script.json")}` };
    const cwds = ["../../..", "way-out", "/tmp", "missing", "."];
    const tasks = cwds.map((cwd, at) => JSON.stringify({ ...task, id: `t${at}`, cwd }));
    writeFileSync(join(folder, "tasks.jsonl"), tasks.join("\n"));
    const out = join(folder, "out");
    await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet"]);
    assert.deepEqual(
      resultsIn(out)
        .map(({ task_id, status }) => [task_id, status])
        .sort(),
      cwds.map((cwd, at) => [`t${at}`, cwd === "." ? "passed" : "error"]),
    );
  });

  it("masks what a check prints wherever it is kept", async () => {
    const folder = tempFolder("batch");
    const secret = "hunter2secretvalue99";
    writeFileSync(join(folder, "script.json"), JSON.stringify([{ text: "Done." }]));
    const task = {
      id: "a",
      prompt: "x",
      model: `scripted/${join(folder, "script.json")}`,
      check: 'echo "it is $MY_TOKEN"; false',
    };
    writeFileSync(join(folder, "tasks.jsonl"), JSON.stringify(task));
    const out = join(folder, "out");
    await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet"], { env: { MY_TOKEN: secret } });
    assert.match(JSON.stringify(resultsIn(out)), /it is \[redacted:MY_TOKEN\]/);
    const kept = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of kept)
      assert.ok(!readFileSync(join(parentPath, name), "utf8").includes(secret), join(parentPath, name));
  });

  it("costs what the user's own prices say, in every part of its result", async () => {
    const folder = tempFolder("batch");
    const home = join(folder, "home");
    mkdirSync(home);
    const price = { input: 1, output: 2 };
    writeFileSync(join(home, "models.json"), JSON.stringify({ models: [{ provider: "scripted", model: "scripted", price }] }));
    const usage = { inputTokens: 1_000_000, outputTokens: 500_000 };
    writeFileSync(join(folder, "script.json"), JSON.stringify([{ text: "Done.", usage }]));
    writeFileSync(
      join(folder, "tasks.jsonl"),
      JSON.stringify({ id: "a", prompt: "x", model: `scripted/${join(folder, "script.json")}` }),
    );
    const out = join(folder, "out");
    const { code, stderr } = await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet"], {
      env: { OUTRIDER_HOME: home },
    });
    assert.equal(code, 0, stderr);
    const [result] = resultsIn(out);
    const [used] = Object.values(result?.["modelUsage"] as Record<string, { costUSD: number }>);
    assert.deepEqual([result?.["total_cost_usd"], used?.costUSD, result?.["warnings"]], [2, 2, undefined]);
  });
});
