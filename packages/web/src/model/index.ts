export { type Comparison, compareRuns } from "./compare-runs.ts";
export { RunReducer } from "./from-events.ts";
export { type ReadOptions, fromEvents, readRun } from "./read-run.ts";
export type { Call, FileEdit, RunModel, Step, Value } from "./run-model.ts";
export { type RunList, summaryOf } from "./run-summary.ts";
