/** Numbers in the words of the pages: `8 m 16 s`, `3.74 M`, `$0.032`. What is not known is a dash. */

export function duration(ms: number | undefined): string {
  if (ms === undefined) return "—";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} m ${String(Math.round(seconds) % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} m`;
}

/** Since the run began. */
export function clock(ms: number | undefined): string {
  if (ms === undefined) return "";
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

export function count(number: number): string {
  if (number >= 999_500) return `${(number / 1e6).toFixed(2)} M`;
  if (number >= 9_950) return `${Math.round(number / 1000)} k`;
  if (number >= 1_000) return `${(number / 1000).toFixed(1)} k`;
  return String(Math.round(number));
}

export function dollars(cost: number | undefined): string {
  if (cost === undefined) return "—";
  if (cost > 0 && cost < 0.0005) return "< $0.001";
  return `$${cost.toFixed(cost < 0.0995 ? 3 : 2)}`;
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? "—" : `${((part / whole) * 100).toFixed(1)} %`;
}

export function bytes(size: number): string {
  if (size >= 1e6) return `${(size / 1e6).toFixed(1)} MB`;
  return `${Math.max(1, Math.round(size / 1000))} kB`;
}

export function plural(number: number, word: string): string {
  return `${number.toLocaleString("en-US")} ${word}${number === 1 ? "" : "s"}`;
}

export function day(iso: string | undefined): string {
  if (iso === undefined) return "—";
  return new Date(iso).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
