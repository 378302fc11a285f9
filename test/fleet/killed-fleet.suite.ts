import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startEffects, startWorker, taskLines } from "../e2e/batch-model.ts";
import { run, start, tempFolder } from "../e2e/command.ts";
import { upFleet } from "./fleet-up.ts";

it("is up again after its command was killed, at the same place, with an engine of its own", async () => {
  const folder = tempFolder("killed-fleet");
  const effects = await startEffects();
  const { env } = await startWorker(join(folder, "home"), { url: effects.url, steps: 1 });
  writeFileSync(join(folder, "tasks.jsonl"), taskLines(2, { allowedTools: ["Bash"] }));
  const first = await upFleet(join(folder, "fleet"), { workers: 1, env });
  const { enginePid, ports } = first.state();
  await first.kill();
  const second = await upFleet(join(folder, "fleet"), { workers: 1, env });
  try {
    while (second.state().enginePid === enginePid) await delay(100); // the file is that of the first until then
    const now = second.state();
    assert.deepEqual(now.ports, ports);
    const batch = await run(["batch", join(folder, "tasks.jsonl"), "--out", join(folder, "out"), ...second.flags], { env });
    assert.equal(batch.code, 0, batch.stderr);
    assert.equal(second.state().enginePid, now.enginePid, "it is started once");
  } finally {
    await second.down();
  }
});

it("continues what had begun when it was drained, in the next workers", async () => {
  const folder = tempFolder("drained-fleet");
  const effects = await startEffects();
  const { env } = await startWorker(join(folder, "home"), { url: effects.url, steps: 2, delayMs: 700 });
  writeFileSync(join(folder, "tasks.jsonl"), taskLines(2, { allowedTools: ["Bash"] }));
  const first = await upFleet(join(folder, "fleet"), { workers: 1, env });
  const batch = start(["batch", join(folder, "tasks.jsonl"), "--out", join(folder, "out"), "--quiet", ...first.flags], { env });
  while (effects.total() === 0) await delay(50);
  await first.down();
  const second = await upFleet(join(folder, "fleet"), { workers: 1, env });
  try {
    const { code, stderr } = await batch.done;
    assert.equal(code, 0, stderr);
    assert.equal(effects.total(), 4);
  } finally {
    await second.down();
  }
});

it("ends no process that has the id of a fleet that is no more", async () => {
  const folder = tempFolder("stale-fleet");
  const bystander = spawn("sleep", ["60"], { stdio: "ignore" });
  const pid = Number(bystander.pid);
  mkdirSync(join(folder, "fleet"));
  const state = { pid, started: "1", enginePid: pid, engineStarted: "1", workers: [], ingress: "", admin: "", store: "" };
  writeFileSync(join(folder, "fleet", "fleet.json"), JSON.stringify(state));
  const { stderr, stdout } = await run(["fleet", "drain", "--folder", join(folder, "fleet")]);
  assert.match(stdout + stderr, /not up|no fleet|is up/i);
  process.kill(pid, 0);
  bystander.kill();
});
