import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openWorkers } from "@outrider/fleet/restate";
import { model, tempFolder } from "../e2e/command.ts";
import { startEngine } from "./engine.ts";
import { upFleet } from "./fleet-up.ts";

const folder = tempFolder("worker-processes");

it("outlives a worker process that was killed a moment before it is told something", async () => {
  const engine = await startEngine();
  after(() => engine.close());
  const place = { ingress: engine.ingress, admin: engine.admin, store: join(folder, "store"), folder: join(folder, "work") };
  const around = { env: { PATH: process.env.PATH ?? "" }, userHome: folder, outriderHome: join(folder, "home"), cwd: folder };
  const workers = await openWorkers({ ...place, host: "127.0.0.1", port: 0, processes: 2, around, warn: () => {} });
  const [victim = 0] = workers.pids();
  process.kill(victim, "SIGKILL");
  while (!isDead(victim)) {} // nothing of it is heard here meanwhile
  await workers.close(1_000);
  assert.deepEqual(workers.pids(), []);
});

it("tries again where a killed engine cannot be started at once", async () => {
  const { env } = await model([], join(folder, "home"));
  const fleet = await upFleet(join(folder, "fleet"), { workers: 1, env });
  const { enginePid, ports } = fleet.state();
  const taken = createServer((socket) => socket.destroy());
  try {
    fleet.child.kill("SIGSTOP"); // so that the place is taken before it looks
    for (const pid of fleet.children().engine) process.kill(pid, "SIGKILL");
    taken.on("error", () => {}); // the engine has not let go of it yet
    for (; !taken.listening; await delay(20)) taken.listen(ports.ingress, "127.0.0.1");
    fleet.child.kill("SIGCONT");
    await fleet.heard(/did not start/);
    await new Promise((resolve) => taken.close(resolve));
    while (fleet.state().enginePid === enginePid) await delay(100);
    assert.equal((await fetch(`${fleet.state().ingress}/restate/health`)).status, 200);
  } finally {
    fleet.child.kill("SIGCONT");
    taken.close();
    await fleet.down();
  }
});

function isDead(pid: number): boolean {
  return /^\s*(?:Z|$)/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout);
}
