/** Trajectories in the Agent Trajectory Interchange Format, and the JSONL runtime that writes their steps. */
export type { AtifVersion, Trajectory } from "../transports/atif/atif.ts";
export { loadCallPrice } from "../transports/atif/write/call-price.ts";
export { emitEvent } from "../transports/atif/lines/emit-event.ts";
export type { TrajectoryProblem } from "../transports/atif/check/field-checks.ts";
export { fromTrajectory, type ImportedTrajectory } from "../transports/atif/read/from-trajectory.ts";
export type {
  AgentRunConfig,
  BeforeTurnResult,
  HeadlessConfig,
  SessionRunConfig,
} from "../transports/run-headless/headless-config.ts";
export type {
  AgentStepEvent,
  ApprovalEvent,
  CompactionEvent,
  ErrorEvent,
  InterruptEvent,
  MetadataEvent,
  StepEvent,
  TrajectoryEvent,
  TurnStartEvent,
  UserStepEvent,
} from "../transports/atif/lines/trajectory-events.ts";
export { createAtifJsonlFormat } from "../transports/atif/lines/jsonl-format.ts";
export { loadTrajectory, readTrajectoryJson, seedSession } from "../transports/atif/read/load-trajectory.ts";
export { CheckpointHistory, type MessageHistory } from "../transports/run-headless/message-history.ts";
export { SessionManager } from "../transports/run-headless/session-manager.ts";
export { runHeadless } from "../transports/run-headless/run-headless.ts";
export type {
  AgentStreamOptions,
  AgentStreamResult,
  ModelMessage,
  RunnableAgent,
  StreamUsage,
  StreamUsage as UsageMeasurement,
} from "../transports/run-headless/runnable-agent.ts";
export type {
  CompactionCallbacks,
  CompactionCallbacks as CompactionOrchestratorCallbacks,
  CompactionCircuitBreaker,
} from "../transports/run-headless/compact-history.ts";
export { registerSignalHandlers } from "../transports/run-headless/signal-handlers.ts";
export { TodoContinuation, type TodoItem, type TodoReminder } from "../transports/run-headless/todo-continuation.ts";
export {
  toTrajectory,
  toTrajectoryDocument,
  type TrajectoryDocument,
  type TrajectoryOptions,
} from "../transports/atif/write/trajectory.ts";
export {
  stemOf,
  type TrajectoryFileOptions,
  type WatchedFormat,
  watchTrajectory,
  writeDocument,
} from "../transports/atif/write/trajectory-file.ts";
export { type Validation, type ValidationOptions, validateTrajectory } from "../transports/atif/check/validate.ts";
