import { toSafeJson } from "../../../util/jsonl.ts";
import type { Step, Trajectory } from "../atif.ts";

/** Documents as JSON. A document is written again after every step of a long run: the text of a step that is settled is kept. */
export class TrajectoryTexts {
  readonly #settled: WeakSet<Step>;
  readonly #steps = new WeakMap<Step, string>();
  readonly #files = new Map<string, string>();

  constructor(settled: WeakSet<Step> = new WeakSet()) {
    this.#settled = settled;
  }

  of(trajectory: Trajectory): string {
    const fields = Object.entries(trajectory).flatMap(([name, value]) =>
      value === undefined ? [] : [`${JSON.stringify(name)}:${this.#field(name, value, trajectory)}`],
    );
    return `{${fields.join(",")}}`;
  }

  /** False when the file of this name was last asked about with the same text. */
  isNew(name: string, trajectory: Trajectory): boolean {
    const text = this.of(trajectory);
    if (this.#files.get(name) === text) return false;
    this.#files.set(name, text);
    return true;
  }

  #field(name: string, value: unknown, { steps, subagent_trajectories: children = [] }: Trajectory): string {
    if (name === "steps") return `[${steps.map((step) => this.#step(step)).join(",")}]`;
    if (name === "subagent_trajectories") return `[${children.map((child) => this.of(child)).join(",")}]`;
    return toSafeJson(value);
  }

  #step(step: Step): string {
    const kept = this.#steps.get(step);
    if (kept !== undefined) return kept;
    const text = toSafeJson(step);
    if (this.#settled.has(step)) this.#steps.set(step, text);
    return text;
  }
}
