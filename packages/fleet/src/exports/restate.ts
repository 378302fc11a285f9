/** The durable engine Restate: its workers, its backend, and a server for trying out. */
export { EngineFailed, type InvocationRow, RestateApi, type RestateAddress } from "../restate/restate-api.ts";
export { createRestateBackend, type RestateBackendOptions } from "../restate/restate-backend.ts";
export { type RestateServer, type RestateServerOptions, startRestateServer } from "../restate/restate-server.ts";
export { openRestateWorker, type RestateWorker, type RestateWorkerOptions } from "../restate/restate-worker.ts";
