import type { AgentEvent } from "../../../protocol/events.ts";
import type { AtifVersion, Trajectory } from "../atif.ts";
import type { CallPrice } from "./call-price.ts";
import { toVersion14 } from "./down-level.ts";
import { TrajectoryBuilder } from "./trajectory-builder.ts";

export type TrajectoryOptions = {
  /** 1.7 when absent, and 1.8 instead where there is audio. */
  readonly version?: AtifVersion | undefined;
  /** Without it no cost is known; see `loadCallPrice`. */
  readonly priceOf?: CallPrice | undefined;
  /** The one the events belong to when absent. */
  readonly sessionId?: string | undefined;
  /** Events up to this one are history of an earlier run: copied context, without costs. */
  readonly copiedThrough?: number | undefined;
  /** The file's name without `.json`, from which subagents' files take theirs. */
  readonly stem?: string | undefined;
};

/** A document, and by their paths relative to it the files it names: other trajectories, and base64 of pictures and sounds. */
export type TrajectoryDocument = {
  readonly trajectory: Trajectory;
  readonly subagents: ReadonlyMap<string, Trajectory>;
  readonly media: ReadonlyMap<string, string>;
};

/** Pure projection: a session's events as a trajectory. Undefined when nothing has happened yet: a trajectory has at least one step. */
export function toTrajectory(events: Iterable<AgentEvent>, options: TrajectoryOptions = {}): Trajectory | undefined {
  return toTrajectoryDocument(events, options)?.trajectory;
}

export function toTrajectoryDocument(
  events: Iterable<AgentEvent>,
  options: TrajectoryOptions = {},
): TrajectoryDocument | undefined {
  const builder = new TrajectoryBuilder(options);
  for (const event of events) builder.apply(event);
  return finishDocument(builder, options);
}

/** The document as far as the builder has come. */
export function finishDocument(builder: TrajectoryBuilder, options: TrajectoryOptions): TrajectoryDocument | undefined {
  const { version = "1.7", stem = "trajectory" } = options;
  const label = version === "1.4" || !builder.media.hasAudio ? `ATIF-v${version}` : "ATIF-v1.8";
  const trajectory = builder.toTrajectory(label);
  if (!trajectory) return undefined;
  const media = builder.media.files;
  const pathOf = (id: string): string => `${stem}.${toFileName(id)}.json`;
  if (version === "1.4") {
    const { trajectory: lowered, subagents } = toVersion14(trajectory, pathOf);
    return { trajectory: lowered, subagents: byPath(subagents, pathOf), media };
  }
  // Also beside the document: some readers look for subagents nowhere else.
  const embedded = (trajectory.subagent_trajectories ?? []).map((child): [string, Trajectory] => [
    child.trajectory_id ?? "",
    child,
  ]);
  return { trajectory, subagents: byPath(new Map(embedded), pathOf), media };
}

function byPath(trajectories: ReadonlyMap<string, Trajectory>, pathOf: (id: string) => string): Map<string, Trajectory> {
  return new Map([...trajectories].map(([id, trajectory]) => [pathOf(id), trajectory]));
}

/** Ids are the runtime's own, and still not trusted to be names of files. */
function toFileName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100);
}
