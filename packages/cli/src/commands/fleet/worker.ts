import { once } from "node:events";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { RuntimeError } from "@outrider/runtime";
import { modelKeys } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { duration, positiveInteger } from "../../flags/numbers.ts";
import { takeOwnWords } from "../../flags/words.ts";
import { surroundings } from "../../request/plan-run.ts";
import { withdrawKeys } from "../../request/withdraw-keys.ts";
import { complain } from "../../run/say.ts";
import { print } from "../../terminal/visible.ts";
import { asOurs, loadFleet } from "../batch/load-fleet.ts";
import { untilSignal } from "./until-signal.ts";

const usage = `Usage:
  outrider worker --engine restate --ingress URL --admin URL --store ADDRESS [FLAG…]
                       work on the tasks of batches on an engine, until a signal

  --store ADDRESS      the store that all workers share: a folder, s3://BUCKET/PREFIX?endpoint=URL&region=NAME (AWS_ACCESS_KEY_ID and
                       AWS_SECRET_ACCESS_KEY), or postgres://USER@HOST/DATABASE
  --folder DIR         where runs work on this machine; the same path on all of them (${join(tmpdir(), "outrider-worker")})
  --port N             the port that the engine calls (9080); --host ADDRESS is 127.0.0.1 by default
  --advertise URL      where the engine finds the workers: a load balancer or service in front of them
  --processes N        share the port among N processes; one that dies is replaced (1)
  --side-port N        serves /healthz, /readyz, /metrics, /queue and /runs/ID/events (9081)
  --drain TIME         how long a signal waits for running steps (25s); a second signal does not wait
  --service NAME       the fleet's name in the engine (outrider)

Anyone who reaches the port can start runs: keep it on the engine's network. See docs/fleet.md.
`;

/** \`outrider worker\`: does the work of batches on a durable engine. */
export async function runWorker(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, {
    switches: ["--help", "-h"],
    values: [
      "--engine",
      "--ingress",
      "--admin",
      "--store",
      "--folder",
      "--port",
      "--host",
      "--advertise",
      "--processes",
      "--drain",
      "--service",
      "--side-port",
    ],
  });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const needed = (flag: string): string => {
    const value = words.value(flag);
    if (value === undefined) throw new RuntimeError("usage", `worker needs ${flag}\n${usage}`);
    return value;
  };
  if (words.rest.length > 0) throw new RuntimeError("usage", `worker does not take ${words.rest[0]}\n${usage}`);
  if (needed("--engine") !== "restate") throw new RuntimeError("usage", `The engine is restate, not ${words.value("--engine")}`);
  const settings = {
    ingress: needed("--ingress"),
    admin: needed("--admin"),
    store: needed("--store"),
    service: words.value("--service"),
    folder: words.value("--folder") ?? join(tmpdir(), "outrider-worker"),
    host: words.value("--host") ?? "127.0.0.1",
    port: positiveInteger("--port", words.value("--port") ?? "9080"),
    advertise: words.value("--advertise"),
    sidePort: positiveInteger("--side-port", words.value("--side-port") ?? "9081"),
    processes: positiveInteger("--processes", words.value("--processes") ?? "1"),
  };
  const graceMs = duration("--drain", words.value("--drain") ?? "25s");
  try {
    const engine = await (await loadFleet()).loadEngine();
    const around = surroundings();
    withdrawKeys(modelKeys);
    const stopping = untilSignal("Draining: steps under way are finished. A second signal does not wait.");
    const workers = await engine.openWorkers({ ...settings, around, warn: complain });
    await print(
      `The engine knows ${settings.processes === 1 ? "this worker" : `these ${settings.processes} workers`}, port ${workers.port}\n`,
    );
    if (!stopping.aborted) await once(stopping, "abort");
    await workers.close(graceMs);
    return exitCodes.success;
  } catch (error) {
    throw asOurs(error);
  } finally {
    setImmediate(() => process.exit()); // whatever a tool left open must not keep it alive
  }
}
