import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { DurableBackend, DurableRun } from "@outrider/fleet";
import { createRestateBackend, openRestateWorker, RestateApi, type RestateWorker } from "@outrider/fleet/restate";
import { durableConformance } from "@outrider/fleet/testing";
import { type Engine, startEngine } from "./engine.ts";
import { freePort } from "./postgres-server.ts";

describe("the backend on Restate", () => {
  let engine: Engine;
  before(async () => {
    engine = await startEngine();
  });
  after(() => engine.close());

  for (const [index, { name, run }] of durableConformance.entries())
    it(name, async () => {
      const service = `case${index}`;
      const port = await freePort(); // workers that follow each other are found at one address
      const workers = new Map<DurableBackend, RestateWorker>();
      const open = async (runs: readonly DurableRun[]): Promise<DurableBackend> => {
        const worker = await openRestateWorker({ runs, service, port });
        await new RestateApi(engine).register(`http://127.0.0.1:${port}`);
        const backend = createRestateBackend({ ...engine, service });
        const close = async (): Promise<void> => {
          await backend.close();
          await worker.close();
        };
        const closing = { ...backend, close };
        workers.set(closing, worker);
        return closing;
      };
      await run({ open, kill: async (backend) => workers.get(backend)?.kill() });
      for (const worker of workers.values()) worker.kill();
    });

  it("goes on after the engine was killed, without a step done twice", async () => {
    const counts: number[] = [];
    const run: DurableRun = {
      name: "engine-killed",
      async run(context) {
        for (let index = 0; index < 20; index++)
          await context.step(`step-${index}`, async () => {
            counts[index] = (counts[index] ?? 0) + 1;
            await new Promise((resolve) => setTimeout(resolve, 20));
            return index;
          });
        return "done";
      },
    };
    const service = "surviving";
    const worker = await openRestateWorker({ runs: [run], service });
    await new RestateApi(engine).register(`http://127.0.0.1:${worker.port}`);
    const backend = createRestateBackend({ ...engine, service });
    const ended = backend.run(run, "one", null);
    while (counts.length < 8) await new Promise((resolve) => setTimeout(resolve, 10));
    await engine.stop("SIGKILL");
    engine = await startEngine(engine.folder, engine.ports);
    assert.equal(await ended, "done");
    // The step in flight may have been done once more; nothing that had a result was.
    assert.ok(counts.filter((count) => count > 1).length <= 1, `counts ${counts}`);
    await backend.close();
    await worker.close();
  });
});
