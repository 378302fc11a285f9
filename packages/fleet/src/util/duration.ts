import { RuntimeError } from "@outrider/runtime";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `90s`, `15m`, `1.5h`; a bare number is seconds. In milliseconds. */
export function toDuration(name: string, text: string): number {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (units[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds < 2 ** 31) return milliseconds;
  throw new RuntimeError("usage", `${name} needs a time like 90s, 15m or 2h, not ${JSON.stringify(text)}`);
}
