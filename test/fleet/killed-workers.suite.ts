import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startEffects, startWorker, taskLines } from "../e2e/batch-model.ts";
import { lines, start, tempFolder } from "../e2e/command.ts";
import { upFleet } from "./fleet-up.ts";

const tasks = Number(process.env.OUTRIDER_FLEET_TASKS ?? 30);
const steps = 3;

it("gives every task one result and repeats no finished call while workers and the engine are killed", async () => {
  const folder = tempFolder("fleet");
  const effects = await startEffects();
  const { env } = await startWorker(join(folder, "home"), { url: effects.url, steps, delayMs: 100 });
  writeFileSync(join(folder, "tasks.jsonl"), taskLines(tasks, { allowedTools: ["Bash"] }));
  const fleet = await upFleet(join(folder, "fleet"), { workers: 3, env });
  const out = join(folder, "out");
  const batch = start(["batch", join(folder, "tasks.jsonl"), "--out", out, "--concurrency", "12", "--quiet", ...fleet.flags], {
    env,
  });
  let kills = 0;
  let isOver = false;
  const killing = (async () => {
    for (let round = 0; !isOver && round < 40; round++) {
      await delay(1_500);
      const { engine, workers } = fleet.children();
      const victim = round === 2 ? engine[0] : workers[round % workers.length];
      if (isOver || !victim) continue;
      try {
        process.kill(victim, "SIGKILL");
        kills++;
      } catch {} // it was replaced a moment ago
    }
  })();
  const { code, stderr } = await batch.done;
  isOver = true;
  await killing;
  const results = lines(readFileSync(join(out, "results.jsonl"), "utf8"));
  const ids = results.map(({ unit_id }) => String(unit_id)).sort();
  assert.deepEqual(ids, Array.from({ length: tasks }, (_, index) => `t${index + 1}`).sort(), stderr);
  assert.deepEqual(
    results.filter(({ status }) => status !== "passed"),
    [],
  );
  assert.equal(code, 0);
  const repeated = ids.flatMap((id) =>
    Array.from({ length: steps }, (_, index) => [id, index + 1, effects.count(id, index + 1)] as const).filter(
      ([, , count]) => count > 1,
    ),
  );
  assert.deepEqual(repeated, []);
  assert.ok(kills >= 3, `${kills} kills`);
  await fleet.down();
});
