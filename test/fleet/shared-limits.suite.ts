import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { taskLines } from "../e2e/batch-model.ts";
import { lines, model, run, start } from "../e2e/command.ts";
import { upFleet } from "./fleet-up.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-fleet-limits-"));
/** How many requests of each tenant are answered at the same time. */
const seen = { now: new Map<string, number>(), most: new Map<string, number>() };
const asked = await model(
  ({ body }) => {
    const [, tenant = "none"] = /TENANT (\w+)/.exec(JSON.stringify(body)) ?? [];
    const now = (seen.now.get(tenant) ?? 0) + 1;
    seen.now.set(tenant, now);
    seen.most.set(tenant, Math.max(now, seen.most.get(tenant) ?? 0));
    setTimeout(() => seen.now.set(tenant, (seen.now.get(tenant) ?? 1) - 1), 290);
    return { text: "Done.", usage: { inputTokens: 0, outputTokens: 1_000 }, delayMs: 300 };
  },
  join(folder, "home"),
);
const up = await upFleet(join(folder, "fleet"), { workers: 2, env: asked.env });
after(async () => {
  await up.down();
  rmSync(folder, { recursive: true, force: true });
});

/** What went wrong, in the words of the results. */
function failuresIn(out: string): string {
  const results = lines(readFileSync(join(out, "results.jsonl"), "utf8"));
  return results.flatMap(({ unit_id, passed, errors }) => (passed ? [] : `${unit_id}: ${JSON.stringify(errors)}`)).join("\n");
}

describe("limits of a fleet", () => {
  const batch = (name: string, more: string[]): string[] => {
    writeFileSync(join(folder, `${name}.jsonl`), taskLines(12, { prompt: `TENANT ${name}`, model: "claude-haiku-4-5" }));
    return ["batch", join(folder, `${name}.jsonl`), "--out", join(folder, name), "--quiet", ...up.flags, ...more];
  };

  it("end a batch on an engine when its budget is spent, and it goes on with more", async () => {
    const before = asked.server.requests.length;
    const first = await run(batch("budget", ["--max-budget", "0.02", "--concurrency", "2"]), { env: asked.env });
    assert.equal(first.code, 137, failuresIn(join(folder, "budget")));
    const spent = asked.server.requests.length - before;
    assert.ok(spent >= 4 && spent <= 6, `${spent} requests for a budget of four, with two at once`);
    const second = await run(["batch", "--resume", "--out", join(folder, "budget"), "--max-budget", "1", "--quiet"], {
      env: asked.env,
    });
    assert.equal(second.code, 0, second.stderr);
    assert.equal(lines(readFileSync(join(folder, "budget/results.jsonl"), "utf8")).length, 12);
    assert.equal(asked.server.requests.length - before, 12, "no answer was paid for twice");
  });

  it("let a tenant have so many runs at once, and others as many as they want", async () => {
    const limited = await run(["fleet", "limit", "--folder", up.folder, "--tenant", "small=2"], { env: asked.env });
    assert.equal(limited.code, 0, limited.stderr);
    const both = ["small", "large"].map((name) =>
      run(batch(name, ["--tenant", name, "--concurrency", "12"]), { env: asked.env }),
    );
    const ended = await Promise.all(both);
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0],
      ["small", "large"].map((name) => failuresIn(join(folder, name))).join("\n"),
    );
    assert.ok((seen.most.get("small") ?? 0) <= 2, `${seen.most.get("small")} of the small tenant at once`);
    assert.ok((seen.most.get("large") ?? 0) > 2, `${seen.most.get("large")} of the large tenant at once`);
  });

  it("hold the budget of all batches together", async () => {
    const wrong = await run(["fleet", "limit", "--folder", up.folder], { env: asked.env });
    assert.equal(wrong.code, 64);
    await run(["fleet", "limit", "--folder", up.folder, "--max-budget", "0.005"], { env: asked.env });
    const status = await run(["fleet", "status", "--folder", up.folder], { env: asked.env });
    assert.match(status.stdout, /budget: \$0\.005/);
    const started = start(batch("together", ["--concurrency", "1"]), { env: asked.env });
    assert.equal((await started.done).code, 137);
    await run(["fleet", "limit", "--folder", up.folder, "--max-budget", "none"], { env: asked.env });
    const second = await run(["batch", "--resume", "--out", join(folder, "together"), "--quiet"], { env: asked.env });
    assert.equal(second.code, 0, second.stderr);
  });

  it("let runs ask a person, whose answer comes by `batch approve` or over the engine's own interface", async () => {
    const home = join(folder, "asking-home");
    const asking = await model(({ body }) => {
      const text = JSON.stringify(body);
      if (text.includes("tool_result")) return { text: text.includes("hi there") ? "It said hi." : "It was denied." };
      return { calls: [{ name: "Bash", input: { command: "touch made && printf 'hi %s' there" } }] };
    }, home);
    const own = await upFleet(join(folder, "asking-fleet"), { workers: 2, env: asking.env });
    const out = join(folder, "asking");
    const tasks = ["a", "b"].map((id) => JSON.stringify({ id, prompt: "x", approvals: true, seed: "empty" }));
    writeFileSync(join(folder, "asking.jsonl"), tasks.join("\n"));
    mkdirSync(join(folder, "empty"));
    const flags = ["--out", out, "--quiet", ...own.flags];
    const started = start(["batch", join(folder, "asking.jsonl"), ...flags], { env: asking.env });
    const questions = async (): Promise<{ id: string; name: string }[]> =>
      JSON.parse((await run(["batch", "status", out, "--json"], { env: asking.env })).stdout).questions;
    let found: { id: string; name: string }[] = [];
    for (let tries = 0; found.length < 2 && tries < 60; tries++) found = await questions().catch(() => []);
    assert.deepEqual(found.map(({ id }) => id).sort(), ["a", "b"]);
    const approved = await run(["batch", "approve", out, "a"], { env: asking.env });
    assert.equal(approved.code, 0, approved.stderr);
    const { batch: name } = JSON.parse(readFileSync(join(out, "engine.json"), "utf8"));
    const key = encodeURIComponent(`${name}/b`);
    const answer = { name: found.find(({ id }) => id === "b")?.name, approval: { approved: false } };
    const answered = await fetch(`${own.state().ingress}/outrider/${key}/answer`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(answer),
    });
    assert.equal(answered.ok, true);
    assert.equal((await started.done).code, 0);
    const results = lines(readFileSync(join(out, "results.jsonl"), "utf8"));
    assert.deepEqual(results.map(({ unit_id, result }) => `${unit_id}: ${result}`).sort(), [
      "a: It said hi.",
      "b: It was denied.",
    ]);
    await own.down();
  });
});
