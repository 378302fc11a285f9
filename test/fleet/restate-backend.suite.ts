import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type DurableBackend, type DurableRun, RunSuspended } from "@outrider/fleet";
import { createRestateBackend, openRestateWorker, RestateApi, type RestateWorker, retireWorkers } from "@outrider/fleet/restate";
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

  it("lets go of a run whose step was put off, and does the step again", async () => {
    const told: string[] = [];
    const run: DurableRun = {
      name: "put-off",
      async run(context) {
        try {
          return await context.step("later", async () => {
            if (told.length === 0) throw new RunSuspended(context.runId);
            return "done";
          });
        } finally {
          told.push("let go");
        }
      },
    };
    const service = "puttingOff";
    const worker = await openRestateWorker({ runs: [run], service });
    await new RestateApi(engine).register(`http://127.0.0.1:${worker.port}`);
    const backend = createRestateBackend({ ...engine, service });
    assert.equal(await backend.run(run, "one", null), "done");
    assert.deepEqual(told, ["let go", "let go"]);
    assert.equal(worker.running, 0);
    await backend.close();
    await worker.close();
  });

  it("ends runs where they began, and begins new ones with the workers that came last", async () => {
    const service = "versions";
    const open = async (version: string): Promise<RestateWorker> => {
      const run: DurableRun = {
        name: "versioned",
        async run(context) {
          const begun = await context.step("begin", async () => version);
          const { approved } = await context.approval("go");
          return [begun, await context.step("end", async () => version), approved];
        },
      };
      const worker = await openRestateWorker({ runs: [run], service });
      await new RestateApi(engine).register(`http://127.0.0.1:${worker.port}`);
      return worker;
    };
    const run: DurableRun = { name: "versioned", run: async () => null };
    const old = await open("v1");
    const backend = createRestateBackend({ ...engine, service });
    const first = backend.run(run, "first", null);
    const api = new RestateApi(engine);
    while ((await api.runs(service, "target_service_key = 'first' and journal_size > 2")).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const next = await open("v2");
    const second = backend.run(run, "second", null);
    await assert.rejects(retireWorkers(engine, `http://127.0.0.1:${old.port}`), /1 runs .* have not ended/);
    await backend.answer("first", "go", { approved: true });
    await backend.answer("second", "go", { approved: true });
    assert.deepEqual(await Promise.all([first, second]), [
      ["v1", "v1", true],
      ["v2", "v2", true],
    ]);
    await retireWorkers(engine, `http://127.0.0.1:${old.port}/`);
    const endpoints = (await api.deployments()).map(({ endpoint }) => endpoint);
    assert.ok(!endpoints.some((endpoint) => endpoint.includes(String(old.port))));
    await assert.rejects(retireWorkers(engine, "http://127.0.0.1:1"), /knows no workers/);
    await backend.close();
    await old.close();
    await next.close();
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
