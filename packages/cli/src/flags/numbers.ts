import { RuntimeError } from "@outrider/runtime";

export function positiveInteger(flag: string, text: string, what = "a whole number above 0"): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new RuntimeError("usage", `${flag} needs ${what}, not ${JSON.stringify(text)}`);
  return Number(text);
}

export function positiveNumber(flag: string, text: string): number {
  const value = decimal(text);
  if (!Number.isFinite(value) || value <= 0) {
    throw new RuntimeError("usage", `${flag} needs a number above 0, not ${JSON.stringify(text)}`);
  }
  return value;
}

export function numberBetween(flag: string, text: string, [low, high]: readonly [number, number]): number {
  const value = decimal(text);
  if (!(value >= low && value <= high)) {
    throw new RuntimeError("usage", `${flag} needs a number from ${low} to ${high}, not ${JSON.stringify(text)}`);
  }
  return value;
}

/** As people write numbers; `Number` also takes white space, hexadecimal and nothing at all. */
function decimal(text: string): number {
  return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `90s`, `15m`, `1.5h`, `500ms`; a bare number is seconds. */
export function duration(flag: string, text: string): number {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (units[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds < 2 ** 31) return milliseconds;
  throw new RuntimeError("usage", `${flag} needs a time like 90s, 15m or 2h (up to 24 days), not ${JSON.stringify(text)}`);
}

/** How long a run waits for what works in the background, as `--background-wait` says it. */
export function ceilingsOf({ "background-wait": text }: { readonly "background-wait"?: string | undefined }): {
  agentMs?: number;
  processMs?: number;
} {
  if (text === undefined) return {};
  const ms = text === "0" ? 0 : duration("--background-wait", text);
  return { agentMs: ms, processMs: ms };
}

/** A time as somebody wrote it, with the unit that a bare number has. */
export function spokenDuration(text = ""): string {
  return /\d$/.test(text) ? `${text} s` : text;
}
