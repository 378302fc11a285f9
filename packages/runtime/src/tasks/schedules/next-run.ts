import { Cron } from "croner";
import { BackgroundTaskError } from "../background/task-error.ts";

/** `every 10m`: from the moment it is asked, not by the clock on the wall. */
const interval = /^every\s+(\d+(?:\.\d+)?)\s*(s|m|h|d)$/i;
/** Once, at this moment. */
const moment = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * When a schedule comes next after a moment, in milliseconds since 1970: five or six fields of cron (six with seconds), `@hourly` and its
 * kin, `every 10m`, or a moment such as 2026-11-16T18:30:00Z. Undefined when it never comes again. Throws for what is no schedule.
 */
export function nextRunOf(expression: string, after: number): number | undefined {
  const every = interval.exec(expression.trim());
  if (every) return after + Math.max(1_000, Number(every[1]) * (unitMs[(every[2] ?? "").toLowerCase()] ?? 0));
  if (moment.test(expression.trim())) {
    const at = Date.parse(expression.trim());
    return at > after ? at : undefined;
  }
  try {
    return new Cron(expression.trim(), { paused: true }).nextRun(new Date(after))?.getTime();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BackgroundTaskError(
      "validation",
      `${JSON.stringify(expression)} is no schedule (${reason}): five fields of cron, or every 10m`,
    );
  }
}
