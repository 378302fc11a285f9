export { RunReducer } from "./from-events.ts";
export { type ReadOptions, fromEvents, readRun } from "./read-run.ts";
export type { RunModel } from "./run-model.ts";
