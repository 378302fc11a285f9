import type { RunModel, RunOutcome } from "./run-model.ts";

/** A run in a list of many. */
export type RunSummary = {
  readonly id: string;
  /** The page of the run, from where the list is; and the word that names it to the command. */
  readonly href?: string;
  readonly word: string;
  readonly outcome: Pick<RunOutcome, "state" | "what">;
  readonly model: string;
  readonly task: string;
  readonly project: string;
  readonly startedAt?: string;
  readonly steps: number;
  readonly errors: number;
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly durationMs?: number;
};

export type RunList = {
  readonly madeAt: string;
  readonly runs: readonly RunSummary[];
  /** Files that tell of no run, with why. */
  readonly unread: readonly { readonly file: string; readonly why: string }[];
};

export function summaryOf(run: RunModel, place: { readonly href?: string; readonly word: string }): RunSummary {
  const { usage, costUsd, errors } = run.totals;
  const tokens = usage.input + usage.cached + usage.written + usage.output;
  return {
    ...{ id: run.id, ...place, outcome: { state: run.outcome.state, what: run.outcome.what }, errors },
    ...{ model: run.models[0] ?? "—", task: run.title ?? (run.task || "(no prompt)"), project: run.cwd?.split("/").at(-1) ?? "" },
    steps: run.steps.length,
    ...(tokens > 0 && { tokens }), // a run that used none has said nothing about it
    ...(run.startedAt !== undefined && { startedAt: run.startedAt }),
    ...(costUsd !== undefined && { costUsd }),
    ...(run.durationMs !== undefined && { durationMs: run.durationMs }),
  };
}
