import { resolve } from "node:path";
import type { FinalMetrics, Step, Trajectory } from "../atif.ts";
import { writeSharedFile } from "../write/shared-file.ts";
import type { MetadataEvent, StepEvent, StepMetrics, TrajectoryEvent } from "./trajectory-events.ts";
import { toSafeJson } from "../../../util/jsonl.ts";

/** The trajectory that a run's lines add up to, in version 1.4. What happens between steps is kept in `extra`; errors and turn starts are not. */
export class StepCollector {
  #metadata: MetadataEvent | undefined;
  readonly #steps: StepEvent[] = [];
  readonly #between: Record<string, TrajectoryEvent[]> = {};

  add(event: TrajectoryEvent): void {
    if (event.type === "metadata") this.#metadata = event;
    else if (event.type === "step") this.#steps.push(event);
    else if (event.type === "approval" || event.type === "compaction" || event.type === "interrupt") {
      const bucket = `${event.type}_events`;
      this.#between[bucket] = [...(this.#between[bucket] ?? []), event];
    }
  }

  /** Undefined before the first step: a trajectory has at least one. */
  toTrajectory(): Trajectory | undefined {
    if (!this.#metadata || this.#steps.length === 0) return undefined;
    return {
      schema_version: "ATIF-v1.4",
      session_id: this.#metadata.session_id,
      agent: this.#metadata.agent,
      steps: this.#steps.map(toStep),
      final_metrics: toFinalMetrics(this.#steps),
      ...(Object.keys(this.#between).length > 0 && { extra: { ...this.#between } }),
    };
  }

  write(path: string): void {
    const trajectory = this.toTrajectory();
    if (trajectory) writeSharedFile(resolve(path), `${toSafeJson(trajectory)}\n`);
  }
}

function toStep({ type: _, ...step }: StepEvent): Step {
  return step as Step; // the same fields, but for the kind of line
}

/** Null where no step says anything. */
function toFinalMetrics(steps: readonly StepEvent[]): FinalMetrics {
  const sum = (name: keyof StepMetrics): number | null => {
    const counts = steps.flatMap((step) => (step.source === "agent" ? (step.metrics?.[name] ?? []) : []));
    return counts.length === 0 ? null : counts.reduce((a, b) => a + b, 0);
  };
  return {
    total_prompt_tokens: sum("prompt_tokens"),
    total_completion_tokens: sum("completion_tokens"),
    total_cached_tokens: sum("cached_tokens"),
    total_cost_usd: sum("cost_usd"),
    total_steps: steps.length,
  };
}
