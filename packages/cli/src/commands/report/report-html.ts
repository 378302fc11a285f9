import * as assets from "@outrider/web/assets/report";
import type { RunModel } from "@outrider/web";
import { toPage } from "./page-html.ts";

/** A larger trajectory is not put into the page a second time; `outrider trajectory export` writes it. */
const maxTrajectoryChars = 8_000_000;

/** A run as a page. */
export function toReportHtml(run: RunModel, { trajectory }: { readonly trajectory?: string | undefined } = {}): string {
  const state = `${run.outcome.state[0]?.toUpperCase()}${run.outcome.state.slice(1)}`;
  const hasTrajectory = trajectory !== undefined && trajectory.length <= maxTrajectoryChars;
  return toPage(`${state}: ${run.title ?? (run.task || run.id)} · Outrider report`, assets, {
    run: JSON.stringify(run),
    ...(hasTrajectory && { trajectory }),
  });
}
