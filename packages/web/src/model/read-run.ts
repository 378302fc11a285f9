import type { AgentEvent } from "@outrider/runtime";
import { isFields } from "./describe-call.ts";
import { type EventOptions, RunReducer } from "./from-events.ts";
import { fromFrames } from "./from-frames.ts";
import { fromTrajectory } from "./from-trajectory.ts";
import type { RunModel } from "./run-model.ts";

export type ReadOptions = EventOptions & {
  /** Base64 of a picture that lies beside a trajectory. */
  readonly loadPicture?: (path: string) => string | undefined;
};

/** What a file holds is told by what is in it, not by its name. Undefined: it is nothing that tells of a run. */
export function readRun(text: string, options: ReadOptions = {}): RunModel | undefined {
  const whole = parse(text);
  if (isFields(whole) && Array.isArray(whole["steps"])) return fromTrajectory(whole, options);
  // `json --verbose` prints one array of frames.
  const lines = (Array.isArray(whole) ? whole : text.split("\n").map(parse)).filter(isFields);
  const events = lines.filter(
    (line) => typeof line["seq"] === "number" && typeof line["type"] === "string" && typeof line["at"] === "string",
  );
  if (events.length > 0) return fromEvents(events as unknown as AgentEvent[], options);
  const frames = lines.filter((line) => ["assistant", "user", "result", "system"].includes(String(line["type"])));
  if (!frames.some((frame) => isFields(frame["message"]) || frame["type"] === "result")) return undefined;
  return fromFrames(frames);
}

export function fromEvents(events: Iterable<AgentEvent>, options: EventOptions = {}): RunModel {
  const reducer = new RunReducer(options);
  for (const event of events) reducer.push(event);
  return reducer.model();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}
