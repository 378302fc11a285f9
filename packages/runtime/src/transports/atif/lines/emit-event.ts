import { toLine } from "../../../util/jsonl.ts";
import type { TrajectoryEvent } from "./trajectory-events.ts";

/** One line on standard output. */
export function emitEvent(event: TrajectoryEvent): void {
  process.stdout.write(toLine(event));
}
