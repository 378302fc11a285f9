/** The same texts that Python's `datetime.fromisoformat` takes since 3.11, once a `Z` is written as an offset: that is what other readers check with. */
export function isIsoTime(text: string): boolean {
  const date = /^(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d)|-?W(\d\d)(?:-?(\d))?)/.exec(text.replaceAll("Z", "+00:00"));
  if (!date) return false;
  const [matched, year = "", month, day, basicMonth, basicDay, week, weekday] = date;
  if (week !== undefined && !isOneWeekStyle(matched)) return false;
  const rest = text.replaceAll("Z", "+00:00").slice(matched.length);
  const isDay =
    week === undefined
      ? isCalendarDay(Number(year), Number(month ?? basicMonth), Number(day ?? basicDay))
      : isWeekDay(Number(year), Number(week), Number(weekday ?? 1));
  if (!isDay) return false;
  if (rest === "") return true;
  const [separator = ""] = rest; // any one character
  return isTime(rest.slice(separator.length));
}

/** `2026-W05-2` or `2026W052`, not a mixture. */
function isOneWeekStyle(text: string): boolean {
  return /^\d{4}(?:-W\d\d(?:-\d)?|W\d\d\d?)$/.test(text);
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

function isWeekDay(year: number, week: number, weekday: number): boolean {
  if (year < 1) return false;
  const thursday = 4; // a year that starts or ends on one has 53 weeks
  const isLong = [new Date(Date.UTC(year, 0, 1)), new Date(Date.UTC(year, 11, 31))].some((date) => date.getUTCDay() === thursday);
  return week >= 1 && week <= (isLong ? 53 : 52) && weekday >= 1 && weekday <= 7;
}

const clock = String.raw`(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,]\d+)?)?|(\d\d)(?:(\d\d)(?:[.,]\d+)?)?)?`;
const time = new RegExp(`^${clock}(?:[+-](.+))?$`, "s");
const offset = new RegExp(`^${clock}$`);

function isTime(text: string): boolean {
  const match = time.exec(text);
  if (!match) return false;
  if (!isClock(match.slice(1, 6), 23)) return false;
  const written = match[6];
  if (written === undefined) return true;
  const parts = offset.exec(written);
  return parts !== null && isClock(parts.slice(1, 6), 23);
}

function isClock([hours, minutes, seconds, basicMinutes, basicSeconds]: (string | undefined)[], maxHours: number): boolean {
  return Number(hours) <= maxHours && Number(minutes ?? basicMinutes ?? 0) <= 59 && Number(seconds ?? basicSeconds ?? 0) <= 59;
}
