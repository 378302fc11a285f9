import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { taskLines } from "./batch-model.ts";
import { eventually, lines, model, run, start, tempFolder } from "./command.ts";

describe("limits of a batch", () => {
  it("refuses a budget for a model of unknown price before anything is run, and runs it without one", async () => {
    const folder = tempFolder("batch-price");
    const { env, server } = await model(() => ({ text: "Done." }), join(folder, "home"));
    const tasks = [
      { id: "known", prompt: "x", model: "claude-haiku-4-5" },
      { id: "unknown", prompt: "x", model: "claude-nobody-knows-1" },
    ];
    writeFileSync(join(folder, "tasks.jsonl"), tasks.map((task) => JSON.stringify(task)).join("\n"));
    const out = join(folder, "out");
    const first = await run(["batch", join(folder, "tasks.jsonl"), "--out", out, "--max-budget", "1", "--quiet"], { env });
    assert.equal(first.code, 78);
    assert.match(first.stderr, /price of anthropic\/claude-nobody-knows-1 is not known/);
    assert.equal(server.requests.length, 0);
    assert.equal(existsSync(out), false);
    writeFileSync(join(folder, "fewer.jsonl"), JSON.stringify(tasks[0]));
    const second = await run(["batch", join(folder, "fewer.jsonl"), "--out", out, "--max-budget", "1", "--quiet"], { env });
    assert.equal(second.code, 0, second.stderr);
  });

  it("waits before a provider has to complain: what good answers say of its limits is not overdrawn", async () => {
    const folder = tempFolder("batch-headers");
    const window = 2_000;
    const most = 4;
    let from = 0;
    let count = 0;
    const seen: number[] = [];
    const { env, server } = await model(
      () => {
        const now = Date.now();
        if (now - from >= window) {
          from = now;
          count = 0;
        }
        seen.push(++count);
        if (count > most) return { status: 429, headers: { "retry-after": "1" } };
        const headers = {
          "anthropic-ratelimit-requests-limit": "1000",
          "anthropic-ratelimit-requests-remaining": String(most - count),
          "anthropic-ratelimit-requests-reset": new Date(from + window + 50).toISOString(),
        };
        return { text: "Done.", headers };
      },
      join(folder, "home"),
    );
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(12));
    const flags = ["--out", join(folder, "out"), "--concurrency", "2", "--quiet"];
    const ended = await run(["batch", join(folder, "tasks.jsonl"), ...flags], { env });
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(server.requests.length, 12, "nothing had to be asked twice");
    assert.ok(Math.max(...seen) <= most, `${seen}`);
  });

  it("says that somebody works on the batch already, in another code than that of tasks that failed", async () => {
    const folder = tempFolder("batch-busy");
    const { env, server } = await model(() => ({ text: "Done.", delayMs: 3_000 }), join(folder, "home"));
    mkdirSync(join(folder, "home"), { recursive: true });
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(1));
    const out = join(folder, "out");
    const first = start(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet"], { env });
    await eventually(() => server.requests.length === 1, "the model is asked");
    const second = await run(["batch", "--resume", "--out", out], { env });
    assert.equal(second.code, 78);
    assert.match(second.stderr, /Process \d+ works on/);
    assert.equal((await first.done).code, 0);
    const third = await run(["batch", "--resume", "--out", out, "--quiet"], { env });
    assert.equal(third.code, 0, third.stderr);
    assert.equal(lines(readFileSync(join(out, "results.jsonl"), "utf8")).length, 1);
  });
});
