import type { BackgroundJobGroupState, BackgroundJobResult } from "../../protocol/job-group.ts";

/** Counts and lines for whoever shows a group. */
export type BackgroundJobGroupSummary = {
  readonly groupId: string;
  readonly status: BackgroundJobGroupState["status"];
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly pending: number;
  readonly lines: readonly string[];
};

/** The line of a task says what is to be seen of it without opening it. */
export function summarizeBackgroundJobGroup({
  id,
  status,
  taskIds,
  results,
}: BackgroundJobGroupState): BackgroundJobGroupSummary {
  const count = (wanted: string): number => results.filter((result) => result.status === wanted).length;
  return {
    groupId: id,
    status,
    total: taskIds.length,
    completed: count("completed"),
    failed: count("failed"),
    cancelled: count("cancelled"),
    pending: taskIds.length - results.length,
    lines: results.map(toLine),
  };
}

function toLine({ status, label, taskId, summary, error, outputRef }: BackgroundJobResult): string {
  const detail = error?.message ?? summary;
  return `[${status}] ${label} ${taskId}${detail ? `: ${detail}` : ""}${outputRef ? ` (output: ${outputRef})` : ""}`;
}
