import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, run, tempFolder } from "./command.ts";

const boxed = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;

function resultsIn(out: string): Record<string, unknown>[] {
  return lines(readFileSync(join(out, "results.jsonl"), "utf8"));
}

/** A model that writes this file, and one that only talks. */
function scripts(folder: string, file: string, content: string): { good: string; lazy: string } {
  const write = { name: "Write", input: { file_path: file, content } };
  const read = { name: "Read", input: { file_path: file } }; // what is there is read before it is written
  writeFileSync(join(folder, "good.json"), JSON.stringify([{ calls: [read] }, { calls: [write] }, { text: "Done." }]));
  writeFileSync(join(folder, "lazy.json"), '[{"text":"It is done."}]');
  return { good: `scripted/${join(folder, "good.json")}`, lazy: `scripted/${join(folder, "lazy.json")}` };
}

describe("evaluations as batches", { skip: !boxed }, () => {
  it("runs Harbor tasks, whose tests nobody sees before and that decide by their reward", async () => {
    const folder = tempFolder("batch-harbor");
    const task = join(folder, "tasks/greet");
    mkdirSync(join(task, "tests"), { recursive: true });
    mkdirSync(join(task, "environment"));
    writeFileSync(join(task, "environment/Dockerfile"), "FROM nothing\n");
    writeFileSync(join(task, "environment/given.txt"), "given\n");
    writeFileSync(join(task, "task.toml"), "[agent]\ntimeout_sec = 120.0\n[verifier]\ntimeout_sec = 60\n");
    writeFileSync(join(task, "instruction.md"), "Write hello to /app/greeting.txt\n");
    const test =
      "if grep -q hello /app/greeting.txt && [ -f /app/given.txt ] && [ ! -f /app/Dockerfile ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n";
    writeFileSync(join(task, "tests/test.sh"), test);
    const { good, lazy } = scripts(folder, "greeting.txt", "hello\n");
    const flags = ["--allowedTools", "Write", "--bare", "--quiet"];
    const a = join(folder, "a");
    const b = join(folder, "b");
    const first = await run(["batch", join(folder, "tasks"), "--model", good, "--out", a, ...flags]);
    assert.equal(first.code, 0, `${first.stderr}${JSON.stringify(resultsIn(a))}`);
    const second = await run(["batch", join(folder, "tasks"), "--model", lazy, "--out", b, ...flags]);
    assert.equal(second.code, 1, second.stderr);
    assert.deepEqual(
      resultsIn(b).map(({ unit_id, failure }) => [unit_id, failure]),
      [["greet", "check"]],
    );
    const compared = await run(["compare", a, b]);
    assert.equal(compared.code, 0, compared.stderr);
    assert.match(compared.stdout, /only A passed: greet\nexact McNemar test: p = 1\.00: no significant difference/);
  });

  it("judges Harbor tasks by what they write down, whatever their exit code", async () => {
    const folder = tempFolder("batch-rewards");
    const rewards: [name: string, script: string, expected: [status: string, reward: number | undefined]][] = [
      ["whole", "echo 1 > /logs/verifier/reward.txt", ["passed", 1]],
      ["point", "printf 1.0 > /logs/verifier/reward.txt; exit 3", ["passed", 1]],
      ["half", "echo 0.5 > /logs/verifier/reward.txt", ["failed", 0.5]],
      ["words", "echo yes > /logs/verifier/reward.txt", ["failed", 0]],
      ["json-good", `echo '{"reward": 1.0, "speed": 0.2}' > /logs/verifier/reward.json`, ["passed", 1]],
      ["json-bad", `echo '{"reward": 0}' > /logs/verifier/reward.json`, ["failed", 0]],
      ["json-least", `echo '{"a": 1, "b": 0.25}' > /logs/verifier/reward.json`, ["failed", 0.25]],
      ["json-torn", `echo '{"a": ' > /logs/verifier/reward.json`, ["failed", 0]],
      ["code-bad", "exit 1", ["failed", undefined]],
      ["code-good", "[ -f /workspace/given.txt ] && [ $PWD = /workspace ] && [ -f /app/given.txt ]", ["passed", undefined]],
    ];
    for (const [name, script] of rewards) {
      const task = join(folder, "tasks", name);
      for (const made of ["tests", "environment"]) mkdirSync(join(task, made), { recursive: true });
      writeFileSync(join(task, "environment/Dockerfile"), "FROM nothing\nWORKDIR /workspace\n");
      writeFileSync(join(task, "environment/given.txt"), "given\n");
      writeFileSync(join(task, "task.toml"), "");
      writeFileSync(join(task, "instruction.md"), "Fill {{ this }}\n");
      writeFileSync(join(task, "tests/test.sh"), `${script}\n`);
    }
    const { lazy } = scripts(folder, "x", "x");
    const out = join(folder, "out");
    const ended = await run(["batch", join(folder, "tasks"), "--model", lazy, "--out", out, "--bare", "--quiet"]);
    assert.equal(ended.code, 1, ended.stderr);
    const seen = resultsIn(out).map(({ task_id, status, check }) => [task_id, [status, Object(check).reward]] as const);
    assert.deepEqual(Object.fromEntries(seen), Object.fromEntries(rewards.map(([name, , expected]) => [name, expected])));
  });

  it("takes more tests than one word of a command holds, and patches for files that the agent has written too", async () => {
    const folder = tempFolder("batch-swe-many");
    const source = join(folder, "source");
    mkdirSync(source);
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: source, encoding: "utf8" });
    git("init", "-q", "-b", "main");
    writeFileSync(join(source, "old.sh"), "false\n");
    git("add", ".");
    git("commit", "-qm", "base");
    const base = git("rev-parse", "HEAD").trim();
    writeFileSync(join(source, "old.sh"), "true\n");
    writeFileSync(join(source, "check.sh"), "sh old.sh && [ $# = 6000 ]\n");
    git("add", ".");
    const row = {
      instance_id: "many",
      repo: source,
      base_commit: base,
      problem_statement: "x",
      test_patch: git("diff", "--cached"),
      FAIL_TO_PASS: Array.from({ length: 6_000 }, (_, at) => `tests/test_of_something.py::test_number_${at}`),
      test_command: "sh check.sh",
    };
    writeFileSync(join(folder, "swe.jsonl"), JSON.stringify(row));
    const { good } = scripts(folder, "check.sh", "the agent's own\n");
    const out = join(folder, "out");
    const flags = ["--allowedTools", "Write", "--permission-mode", "bypassPermissions", "--bare", "--quiet"];
    const ended = await run(["batch", join(folder, "swe.jsonl"), "--model", good, "--out", out, ...flags]);
    assert.equal(ended.code, 0, `${ended.stderr}${JSON.stringify(resultsIn(out))}`);
    const patch = readFileSync(join(out, "patches/many.patch"), "utf8");
    assert.match(patch, /\+the agent's own/); // what it made of itself, and nothing of the tests
    assert.doesNotMatch(patch, /old\.sh|\$#/);
  });

  it("runs rows of SWE-bench against their own tests, in a box", async () => {
    const folder = tempFolder("batch-swe");
    const source = join(folder, "source");
    mkdirSync(source);
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: source, encoding: "utf8" });
    git("init", "-q", "-b", "main");
    writeFileSync(join(source, "sum.sh"), "echo $(($1 - $2))\n");
    git("add", ".");
    git("commit", "-qm", "wrong");
    const base = git("rev-parse", "HEAD").trim();
    writeFileSync(join(source, "check.sh"), '[ "$(sh sum.sh 40 2)" = 42 ] && [ "$1" = adds ] && ! touch /usr/outside\n');
    git("add", ".");
    const patch = git("diff", "--cached");
    const row = {
      instance_id: "s__s-1",
      repo: source,
      base_commit: base,
      problem_statement: "sum.sh subtracts",
      test_patch: patch,
    };
    writeFileSync(join(folder, "swe.jsonl"), JSON.stringify({ ...row, test_command: "sh check.sh", FAIL_TO_PASS: '["adds"]' }));
    const { good, lazy } = scripts(folder, "sum.sh", "echo $(($1 + $2))\n");
    const flags = ["--allowedTools", "Write", "--permission-mode", "bypassPermissions", "--bare", "--quiet"];
    const out = join(folder, "out");
    const ended = await run(["batch", join(folder, "swe.jsonl"), "--model", good, "--model", lazy, "--out", out, ...flags]);
    assert.equal(ended.code, 1, ended.stderr);
    assert.deepEqual(
      resultsIn(out)
        .map(({ model, status }) => [model, status])
        .sort(),
      [
        [good, "passed"],
        [lazy, "failed"],
      ],
      JSON.stringify(resultsIn(out).map(({ check, errors }) => [check, errors])),
    );
  });
});
