import { RuntimeError } from "@outrider/runtime";

const hourMs = 60 * 60 * 1000;
const units: Readonly<Record<string, number>> = { h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs };

/** The day of a time, where the user is. */
export function dayOf(at: string | Date): string {
  const time = new Date(at);
  const [month, day] = [time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${time.getFullYear()}-${month}-${day}`;
}

/** `7d` is so long ago; `today` and a date begin at midnight, where the user is. */
export function parseSince(text: string, now: Date): Date {
  const [, amount, unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (amount !== undefined) return new Date(now.getTime() - Number(amount) * (units[unit] ?? 0));
  const day = text === "today" ? dayOf(now) : text;
  const midnight = new Date(`${day}T00:00:00`);
  if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(midnight.getTime()) && dayOf(midnight) === day) return midnight;
  throw new RuntimeError("usage", `--since takes 7d, 12h, 8w, today or a day like 2026-11-01, not ${JSON.stringify(text)}`);
}
