import { closeScene, openScene, type Programs, runChild } from "./runs.ts";
import { Tally } from "./report.ts";
import type { Held, Idle } from "./soak-child.ts";
import { startSoakModel } from "./soak-model.ts";

/** The state of a task that has ended, where its output lies and what an agent would go on with; no process, no stream, no file. */
const maxKbPerTask = 20;
/** The processor is the garbage collector's, for the most part. */
const maxIdleShare = 0.02;

/** So many tasks in one live session: as many descriptors at the end as at the beginning, next to nothing kept of each, and idle ones cost nothing. */
export async function soakTasks({ programs, tasks }: { programs: Programs; tasks: number }): Promise<Tally> {
  const tally = new Tally("tasks in one live session");
  const server = await startSoakModel();
  const scene = openScene({ url: server.url, steps: 0 });
  try {
    const ended = await runChild(["--expose-gc", programs.soak, scene.home, scene.project, server.url, String(tasks)], {
      ...{ programs, scene, fault: undefined },
    });
    if (ended.code !== 0) tally.violate(`ended with ${ended.code ?? ended.signal}: ${ended.stderr.slice(-500)}`);
    const lines = ended.stdout.split("\n").filter(Boolean);
    const said = lines.map((line) => JSON.parse(line) as Held | Idle); // by soak-child.ts
    const held = said.flatMap((line) => ("tasks" in line ? [line] : []));
    const [idle] = said.flatMap((line) => ("idleMs" in line ? [line] : []));
    const first = held[Math.floor(held.length / 4)];
    const last = held.at(-1);
    if (!first || !last || !idle) throw new Error(`It said too little: ${ended.stdout}`);
    const kbPerTask = (last.heapKb - first.heapKb) / (last.tasks - first.tasks);
    if (kbPerTask > maxKbPerTask) tally.violate(`keeps ${kbPerTask.toFixed(1)} KB of each task that has ended`);
    if (last.descriptors > first.descriptors + 2) tally.violate(`${first.descriptors} descriptors became ${last.descriptors}`);
    if (idle.cpuMs > idle.idleMs * maxIdleShare)
      tally.violate(`${idle.idleTasks} idle tasks took ${idle.cpuMs} ms of ${idle.idleMs} ms`);
    tally.count("tasks", last.tasks);
    tally.count("bytes kept of each", Math.round(kbPerTask * 1024));
    tally.count("descriptors", last.descriptors);
    tally.count(`ms of processor time in ${idle.idleMs} ms with ${idle.idleTasks} idle tasks`, Math.round(idle.cpuMs));
  } catch (error) {
    tally.violate(error instanceof Error ? error.message : String(error));
  } finally {
    await server.close();
    closeScene(scene);
  }
  return tally;
}
