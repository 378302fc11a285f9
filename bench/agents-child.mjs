// So many agents at once in one process on a scripted model: what one of them takes of memory and processor.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInProcessSubagentRunner, createScriptedProvider, SubagentManager } from "../packages/runtime/dist/index.js";

const count = Number(process.argv[2]);
const calls = 5;
const cwd = mkdtempSync(join(tmpdir(), "outrider-bench-agents-"));
writeFileSync(join(cwd, "a.txt"), "some words\n".repeat(100));

/** They read a file again and again, and wait for each other before their last words. */
async function work(agents) {
  let arrived = 0;
  let meet;
  const met = new Promise((resolve) => {
    meet = resolve;
  });
  const play = async (request) => {
    if (request.messages.length < 2 * calls)
      return { calls: [{ name: "Read", input: { file_path: "a.txt", limit: request.messages.length } }] };
    if (++arrived === agents) meet();
    await released;
    return { text: "Done." };
  };
  let release;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  const provider = createScriptedProvider(new Array(agents * (calls + 1)).fill(play));
  const runner = createInProcessSubagentRunner({ parent: { cwd, provider } });
  const manager = new SubagentManager({ runner, maxConcurrent: agents });
  globalThis.gc();
  const heap = process.memoryUsage().heapUsed;
  const cpu = process.cpuUsage();
  const request = {
    type: "general-purpose",
    label: "bench",
    parentSessionId: "bench",
    mode: "foreground",
    depth: 1,
    cwd,
    prompt: "Read",
  };
  const jobs = await Promise.all(Array.from({ length: agents }, () => manager.spawn(request)));
  await met;
  globalThis.gc();
  const heapKb = (process.memoryUsage().heapUsed - heap) / 1024 / agents;
  release();
  for (const { id } of jobs) await manager.wait(id);
  const { user, system } = process.cpuUsage(cpu);
  return { heapKb, cpuMs: (user + system) / 1000 / agents };
}

await work(1); // everything is loaded
const measured = await work(count);
rmSync(cwd, { recursive: true, force: true });
console.log(JSON.stringify(measured));
