/** Trajectories in the Agent Trajectory Interchange Format, and the JSONL runtime that writes their steps. */
export { type AtifJsonlOptions, createAtifJsonlFormat } from "../transports/atif/jsonl-format.ts";
export { loadCallPrice } from "../transports/atif/call-price.ts";
export { type TrajectoryFileOptions, type WatchedFormat, watchTrajectory } from "../transports/atif/trajectory-file.ts";
