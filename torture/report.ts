/** Counts what a part has tried and keeps what went wrong; the first few are shown. */
export class Tally {
  readonly name: string;
  readonly counts: Record<string, number> = {};
  readonly violations: string[] = [];
  readonly #startedAt = Date.now();

  constructor(name: string) {
    this.name = name;
  }

  count(what: string, by = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + by;
  }

  violate(what: string): void {
    this.violations.push(what);
  }

  get text(): string {
    const counts = Object.entries(this.counts).map(([what, number]) => `${number} ${what}`);
    const seconds = ((Date.now() - this.#startedAt) / 1000).toFixed(0);
    const shown = this.violations.slice(0, 5).map((violation) => `\n    ${violation}`);
    return `${this.name}: ${counts.join(", ")}; ${this.violations.length} violations (${seconds} s)${shown.join("")}`;
  }
}

/** Runs jobs with at most `width` at a time, in order of their start. */
export async function inParallel<T>(jobs: readonly T[], width: number, run: (job: T) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < jobs.length) {
      const job = jobs[next++];
      if (job !== undefined) await run(job);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}

/** A small generator of numbers from 0 to below `below`: the same seed gives the same torture. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
