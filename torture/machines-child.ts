import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openBatchScene } from "./batch-scene.ts";
import { findEngine, startEngineNodes } from "./engine-nodes.ts";
import { type Machine, openMachine, openNetworks, ownAddress } from "./network.ts";
import { openRelay } from "./relay.ts";
import { createRandom, Tally } from "./report.ts";

const [project = "", command = "", count = "", seed = ""] = process.argv.slice(2);
const tasks = Number(count);
const random = createRandom(Number(seed));
const steps = 3;
const workerPort = 9080;
const sidePort = 9081;

/** Runs in namespaces of its own, and tells its tally as JSON. */
const tally = await rehearse();
process.stdout.write(JSON.stringify({ counts: tally.counts, violations: tally.violations }));
process.exit();

/**
 * A machine with the engine, a store and the batch, and two with workers, of which one is far away behind a slow line. Each worker's cable to
 * the fleet is pulled out now and then: for so short that connections live on, or for so long that the engine gives its runs to the other.
 * It goes on meanwhile with what it was doing, and reaches the outside.
 */
async function rehearse(): Promise<Tally> {
  const rehearsed = new Tally("machines");
  openNetworks();
  const scene = await openBatchScene({
    steps,
    delayMs: 150,
    host: ownAddress("outside"),
    beside: (step) => `echo ${step} >> steps; sleep 0.${random(9)}`,
  });
  const work = join(scene.folder, "work");
  for (const folder of [work, join(scene.folder, "seed")]) mkdirSync(folder);
  const [first, near, far] = [await openMachine(1, work), await openMachine(2, work), await openMachine(3, work)];
  far.slow("fleet", "2mbit");
  const modelPort = await openRelay(ownAddress("outside"), [
    { host: "127.0.0.1", port: Number(new URL(scene.env.ANTHROPIC_BASE_URL ?? "").port) },
  ]);
  const balancer = await openRelay(ownAddress("fleet"), [
    { host: near.address("fleet"), port: workerPort },
    { host: far.address("fleet"), port: workerPort, delayMs: 40 },
  ]);
  const env = {
    ...scene.env,
    ANTHROPIC_BASE_URL: `http://${ownAddress("outside")}:${modelPort}`,
    AWS_ACCESS_KEY_ID: "S3RVER",
    AWS_SECRET_ACCESS_KEY: "S3RVER",
  };
  const [engine] = await startEngineNodes(findEngine(project), {
    folder: join(scene.folder, "engine"),
    count: 1,
    host: first.address("fleet"),
    launch: first.launch,
    // A worker that is not heard of for so long is given up; by default it takes a minute.
    settings: {
      RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: "2s",
      RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: "4s",
    },
  });
  if (!engine) throw new Error("There is one node");
  const flags = [
    "--engine",
    "restate",
    "--ingress",
    engine.ingress,
    "--admin",
    engine.admin,
    "--store",
    await startStore(first, scene.folder),
  ];
  for (const machine of [near, far]) {
    const place = ["--host", "0.0.0.0", "--port", String(workerPort), "--side-port", String(sidePort), "--folder", work];
    const advertised = ["--advertise", `http://${ownAddress("fleet")}:${balancer}`];
    const worker = machine.launch(process.execPath, [command, "worker", ...flags, ...place, ...advertised], {
      cwd: scene.folder,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(worker.stdout as NonNullable<typeof worker.stdout>, "data"); // it is a pipe; the engine knows it
  }
  // A line twice would be a step that was done twice.
  const check = 'test -s steps && test -z "$(sort steps | uniq -d)"';
  const file = scene.tasks(tasks, { seed: join(scene.folder, "seed"), check });
  const out = join(scene.folder, "out");
  const batch = first.launch(
    process.execPath,
    [command, "batch", file, "--out", out, "--concurrency", "12", "--quiet", ...flags],
    {
      cwd: scene.folder,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let stderr = "";
  batch.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(batch, "close");
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const wait = async (ms: number): Promise<boolean> => {
    await Promise.race([ended, delay(ms)]);
    return !isOver;
  };
  await pullCables([near, far], wait, rehearsed);
  const [code] = await ended;
  if (code !== 0) rehearsed.violate(`The batch ended with ${code}: ${stderr.slice(-300)}`);
  scene.judge(out, tasks, rehearsed);
  const worked = (machine: Machine): number =>
    [...scene.callers.values()].filter((callers) => callers.has(machine.address("outside"))).length;
  for (const [where, machine] of [
    ["beside the engine", near],
    ["far away", far],
  ] as const) {
    rehearsed.count(`tasks worked on ${where}`, worked(machine));
    if (worked(machine) === 0) rehearsed.violate(`Nothing was done by the machine ${where}`);
  }
  rehearsed.count("tasks that moved", [...scene.callers.values()].filter(({ size }) => size > 1).length);
  await scene.close();
  return rehearsed;
}

/** An S3 server on a machine; answers its address. */
async function startStore(machine: Machine, folder: string): Promise<string> {
  const place = join(folder, "store");
  mkdirSync(place);
  const program = join(project, "test/fleet/s3-process.mjs");
  const server = machine.launch(process.execPath, ["--openssl-legacy-provider", program, place, machine.address("fleet")], {
    cwd: folder,
    env: { PATH: process.env["PATH"] },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const [port] = await once(server.stdout as NonNullable<typeof server.stdout>, "data"); // it is a pipe
  return `s3://runs/rehearsal?endpoint=http://${machine.address("fleet")}:${String(port).trim()}&region=eu-test-1`;
}

/** `wait` answers false when all is over. */
async function pullCables(machines: readonly Machine[], wait: (ms: number) => Promise<boolean>, told: Tally): Promise<void> {
  for (let round = 0; await wait(4_000 + random(3_000)); round++) {
    const machine = machines[round % machines.length];
    const isLong = round % 3 !== 2;
    machine?.plug("fleet", false);
    await wait(isLong ? 12_000 + random(5_000) : 1_000 + random(1_500));
    machine?.plug("fleet", true);
    told.count(isLong ? "long partitions" : "short partitions");
  }
}
