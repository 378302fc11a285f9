import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { taskLines } from "../e2e/batch-model.ts";
import { model, run, start } from "../e2e/command.ts";
import { upFleet } from "./fleet-up.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-fleet-side-"));
const words = Array.from({ length: 40 }, (_, at) => `word-${at} `);
const asked = await model(() => ({ text: words.join(""), chunkBytes: 200, chunkDelayMs: 100 }), join(folder, "home"));
const up = await upFleet(join(folder, "fleet"), { workers: 2, env: asked.env });
after(async () => {
  await up.down();
  rmSync(folder, { recursive: true, force: true });
});
const { side = "" } = up.state();

describe("what workers show beside the engine", () => {
  it("is the text of a run while it is written, wherever it runs, and nothing of a run that is not there", async () => {
    writeFileSync(join(folder, "tasks.jsonl"), taskLines(1));
    const out = join(folder, "out");
    const batch = start(["batch", join(folder, "tasks.jsonl"), "--out", out, "--quiet", ...up.flags], { env: asked.env });
    while (asked.server.requests.length === 0) await delay(20);
    const { batch: name } = JSON.parse(readFileSync(join(out, "engine.json"), "utf8"));
    const watched = start(["fleet", "watch", `${name}/t1`, "--folder", up.folder], { env: asked.env });
    const seen = await watched.done;
    assert.equal(seen.code, 0, seen.stderr);
    assert.match(seen.stdout, /word-39/);
    assert.equal((await batch.done).code, 0);
    const nowhere = await fetch(`${side}/runs/${encodeURIComponent(`${name}/t1`)}/events`);
    assert.equal(nowhere.status, 404);
    const ended = await run(["fleet", "watch", `${name}/t1`, "--folder", up.folder], { env: asked.env });
    assert.deepEqual([ended.code, ended.stdout], [0, ""]);
  });

  it("is health for probes, and figures of all processes together", async () => {
    for (const path of ["/healthz", "/readyz"]) assert.equal((await fetch(side + path)).status, 200);
    assert.deepEqual(await (await fetch(`${side}/queue`)).json(), { waiting: 0 });
    assert.equal((await fetch(`${side}/else`)).status, 404);
    assert.equal((await fetch(`${side}/healthz`, { method: "POST" })).status, 405);
    let text = "";
    for (let tries = 0; !text.includes("answers_total 1") && tries < 50; tries++) {
      text = await (await fetch(`${side}/metrics`)).text();
      await delay(100);
    }
    assert.match(text, /^outrider_worker_runs 0$/m);
    assert.match(text, /^outrider_worker_runs_ended_total\{how="ended"\} 1$/m);
    assert.match(text, /^outrider_worker_answers_total 1$/m);
    assert.match(text, /^outrider_fleet_runs_waiting 0$/m);
    for (const line of text.trim().split("\n")) assert.match(line, /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="\w+"\})? \d+)$/);
  });
});
