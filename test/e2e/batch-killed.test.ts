import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startEffects, startWorker, taskLines } from "./batch-model.ts";
import { isStandalone, lines, processesWith, run, start, tempFolder } from "./command.ts";

const steps = 3;
const tasks = 12;

/** Runs a batch to its end, and ends it with SIGKILL at random moments before. Answers how often. */
async function runKilled(
  out: string,
  file: string,
  options: { env: Record<string, string>; kills: number; flags: string[] },
): Promise<number> {
  const { env, kills, flags } = options;
  let killed = 0;
  let isBegun = false;
  for (let round = 0; round <= kills * 3 + 3; round++) {
    const args = !isBegun ? ["batch", file, "--out", out, ...flags] : ["batch", "--resume", "--out", out, ...flags];
    isBegun = true;
    const { child, done } = start(args, { env });
    const timer = killed < kills ? setTimeout(() => child.kill("SIGKILL"), 700 + Math.random() * 1_500) : undefined;
    const { code, signal, stderr } = await done;
    clearTimeout(timer);
    if (signal === "SIGKILL") killed++;
    else if (code === 66)
      isBegun = false; // killed before there was a batch
    else {
      assert.equal(code, 0, stderr);
      return killed;
    }
  }
  throw new Error("It never came to its end");
}

function checkEnd(
  out: string,
  effects: Awaited<ReturnType<typeof startEffects>>,
  killed: { times: number; atOnce: number },
): void {
  const results = lines(readFileSync(join(out, "results.jsonl"), "utf8"));
  assert.deepEqual(
    results.map(({ unit_id, status, result }) => `${unit_id} ${status} ${result}`).sort(),
    Array.from({ length: tasks }, (_, index) => `t${index + 1} passed Task t${index + 1} is done.`).sort(),
  );
  let unknown = 0;
  for (let task = 1; task <= tasks; task++) {
    const events = lines(readFileSync(join(out, "journals", `t${task}.jsonl`), "utf8"));
    const ended = new Set(events.filter(({ type }) => type === "tool.ended").map(({ callId }) => callId));
    for (let step = 1; step <= steps; step++) {
      const count = effects.count(`t${task}`, step);
      const isFinished = ended.has(`call_t${task}_${step}`);
      if (!isFinished) unknown++;
      assert.ok(isFinished ? count === 1 : count <= 1, `t${task}, step ${step}: ${count} effects`);
    }
  }
  assert.ok(unknown <= killed.times * killed.atOnce, `${unknown} calls of unknown outcome after ${killed.times} kills`);
}

describe("a batch that is killed", { skip: process.platform !== "linux" }, () => {
  it("goes on at random moments with one result per task, and no finished call is made again", async () => {
    const folder = tempFolder("batch-killed");
    const effects = await startEffects();
    const { env, server } = await startWorker(join(folder, "home"), { url: effects.url, steps, delayMs: 120 });
    const file = join(folder, "tasks.jsonl");
    writeFileSync(file, taskLines(tasks, { allowedTools: ["Bash"] }));
    const out = join(folder, "out");
    const times = await runKilled(out, file, { env, kills: 8, flags: ["--concurrency", "3", "--quiet"] });
    checkEnd(out, effects, { times, atOnce: 3 });
    const answers = Array.from({ length: tasks }, (_, index) =>
      readFileSync(join(out, "journals", `t${index + 1}.jsonl`), "utf8"),
    )
      .flatMap((text) => lines(text))
      .filter(({ type }) => type === "message.ended").length;
    const asked = server.requests.length;
    assert.ok(asked - answers <= times * 3, `${asked} requests, ${answers} answers on record, ${times} kills of 3 at once`);
  });

  it("does so in child processes, of which any may be killed", async () => {
    const folder = tempFolder("batch-workers");
    const effects = await startEffects();
    const { env } = await startWorker(join(folder, "home"), { url: effects.url, steps, delayMs: 120 });
    const file = join(folder, "tasks.jsonl");
    writeFileSync(file, taskLines(tasks, { allowedTools: ["Bash"] }));
    const out = join(folder, "out");
    const { done } = start(["batch", file, "--out", out, "--processes", "2", "--concurrency", "4", "--quiet"], { env });
    let kills = 0;
    const killer = setInterval(() => {
      if (kills >= 5) return;
      const pids = workersOf(out);
      const victim = pids[Math.floor(Math.random() * pids.length)];
      if (victim === undefined) return;
      process.kill(victim, "SIGKILL");
      kills++;
    }, 1_200);
    const { code, stderr } = await done;
    clearInterval(killer);
    assert.equal(code, 0, stderr);
    assert.ok(kills > 0);
    checkEnd(out, effects, { times: kills, atOnce: 4 });
    assert.equal((await run(["batch", "status", out])).code, 0);
  });

  it("does so when the process that has the workers is killed", async () => {
    const folder = tempFolder("batch-coordinator");
    const effects = await startEffects();
    const { env } = await startWorker(join(folder, "home"), { url: effects.url, steps, delayMs: 120 });
    const file = join(folder, "tasks.jsonl");
    writeFileSync(file, taskLines(tasks, { allowedTools: ["Bash"] }));
    const out = join(folder, "out");
    const times = await runKilled(out, file, { env, kills: 4, flags: ["--processes", "2", "--concurrency", "4", "--quiet"] });
    checkEnd(out, effects, { times, atOnce: 4 });
  });
});

/** Workers of this batch that live: they are named in its folder. */
function workersOf(out: string): number[] {
  const ours = new Set(processesWith(isStandalone ? "--as-worker-of-parent" : "fleet/dist/worker.js"));
  try {
    return readFileSync(join(out, "workers"), "utf8")
      .split("\n")
      .filter(Boolean)
      .map(Number)
      .filter((pid) => ours.has(pid));
  } catch {
    return [];
  }
}
