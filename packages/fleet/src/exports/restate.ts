/** The durable engine Restate: its workers, its backend, and a server for trying out. */
export { EngineFailed, type InvocationRow, RestateApi, type RestateAddress } from "../restate/restate-api.ts";
export { createRestateBackend, type RestateBackendOptions } from "../restate/restate-backend.ts";
export { type RestateServer, type RestateServerOptions, startRestateServer } from "../restate/restate-server.ts";
export { defaultService, openRestateWorker, type RestateWorker, type RestateWorkerOptions } from "../restate/restate-worker.ts";
export { type EngineExecutorOptions, openEngineExecutor } from "../restate/engine-executor.ts";
export { batchInEngine } from "../operate/batch-in-engine.ts";
export {
  drainFleet,
  type FleetState,
  type FleetUpOptions,
  readFleet,
  runFleet,
} from "../operate/local-fleet.ts";
export { type FleetStatus, fleetStatus, retireWorkers } from "../operate/fleet-status.ts";
export { type FleetLimitsGiven, limitFleet } from "../operate/fleet-limits.ts";
export { watchRun, type WatchOptions } from "../operate/watch-run.ts";
export { openWorkers, type WorkersOptions } from "../operate/workers.ts";
