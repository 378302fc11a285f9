import { Cron } from "croner";
import { BackgroundTaskError } from "../background/task-error.ts";
import { isMoment } from "./is-moment.ts";

/** `every 10m`: from the moment it is asked, not by the clock on the wall. */
const interval = /^every\s+(\d+(?:\.\d+)?)\s*(s|m|h|d)$/i;
/** No date is later. */
const lastTime = 8.64e15;
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * When a schedule comes next after a moment, in milliseconds since 1970: five or six fields of cron (six with seconds), `@hourly` and its
 * kin, `every 10m`, or a moment such as 2026-11-16T18:30:00Z. Undefined when it never comes again. Throws for what is no schedule.
 */
export function nextRunOf(expression: string, after: number): number | undefined {
  const wanted = expression.trim();
  const every = interval.exec(wanted);
  const next = every
    ? after + Math.max(1_000, Number(every[1]) * (unitMs[(every[2] ?? "").toLowerCase()] ?? 0))
    : isMoment(wanted)
      ? Date.parse(wanted)
      : nextOfCron(wanted, after);
  if (next === undefined || next <= after) return undefined;
  if (Math.abs(next) <= lastTime) return next;
  throw notASchedule(wanted, "it is no time that a calendar has");
}

function nextOfCron(expression: string, after: number): number | undefined {
  try {
    return new Cron(expression, { paused: true }).nextRun(new Date(after))?.getTime();
  } catch (error) {
    throw notASchedule(expression, error instanceof Error ? error.message : String(error));
  }
}

function notASchedule(expression: string, reason: string): BackgroundTaskError {
  const words = `${JSON.stringify(expression)} is no schedule (${reason}): five fields of cron, or every 10m`;
  return new BackgroundTaskError("validation", words);
}
