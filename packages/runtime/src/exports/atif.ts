/** Trajectories in the Agent Trajectory Interchange Format, and the JSONL runtime that writes their steps. */
export type { AtifVersion, Trajectory } from "../transports/atif/atif.ts";
export { loadCallPrice } from "../transports/atif/call-price.ts";
export { emitEvent } from "../transports/atif/emit-event.ts";
export type { TrajectoryProblem } from "../transports/atif/field-checks.ts";
export { fromTrajectory, type ImportedTrajectory } from "../transports/atif/from-trajectory.ts";
export type { BeforeTurnResult, HeadlessConfig } from "../transports/atif/headless-config.ts";
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
} from "../transports/atif/headless-events.ts";
export { createAtifJsonlFormat } from "../transports/atif/jsonl-format.ts";
export { loadTrajectory, readTrajectoryJson, seedSession } from "../transports/atif/load-trajectory.ts";
export { CheckpointHistory, type MessageHistory, SessionManager } from "../transports/atif/message-history.ts";
export { runHeadless } from "../transports/atif/run-headless.ts";
export type { AgentStreamOptions, AgentStreamResult, RunnableAgent } from "../transports/atif/runnable-agent.ts";
export { toRunnableAgent } from "../transports/atif/session-agent.ts";
export { registerSignalHandlers } from "../transports/atif/signal-handlers.ts";
export { TodoContinuation, type TodoItem } from "../transports/atif/todo-continuation.ts";
export {
  toTrajectory,
  toTrajectoryDocument,
  type TrajectoryDocument,
  type TrajectoryOptions,
} from "../transports/atif/trajectory.ts";
export {
  stemOf,
  type TrajectoryFileOptions,
  type WatchedFormat,
  watchTrajectory,
  writeDocument,
} from "../transports/atif/trajectory-file.ts";
export { type Validation, type ValidationOptions, validateTrajectory } from "../transports/atif/validate.ts";
