import type { Json } from "./structure.ts";

/**
 * Does a value fit a pattern? Objects may have more fields than their pattern, lists have as many items. Words in angle brackets stand
 * for kinds of values (`<string>`, `<uuid>`, `<absent>`, …), words between slashes are regular expressions.
 */
export function fits(pattern: Json, value: Json | undefined): boolean {
  if (typeof pattern === "string") return fitsWord(pattern, value);
  if (pattern === null || typeof pattern !== "object") return pattern === value;
  if (Array.isArray(pattern))
    return Array.isArray(value) && value.length === pattern.length && pattern.every((item, index) => fits(item, value[index]));
  if (typeof value !== "object" || value === null) return false;
  const record = value as { [field: string]: Json }; // lists have fields too: "0", "length"
  return Object.entries(pattern).every(([field, inner]) => fits(inner, record[field]));
}

function fitsWord(pattern: string, value: Json | undefined): boolean {
  if (pattern === "<absent>") return value === undefined;
  if (pattern === "<list>") return Array.isArray(value);
  if (pattern === "<uuid>") return typeof value === "string" && /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(value);
  if (pattern === "<time>") return typeof value === "string" && !Number.isNaN(Date.parse(value)) && value.endsWith("Z");
  const kind = /^<(string|number|boolean|object)>$/.exec(pattern)?.[1];
  if (kind) return typeof value === kind && value !== null;
  const expression = /^\/(.*)\/$/s.exec(pattern)?.[1];
  if (expression !== undefined) return typeof value === "string" && new RegExp(expression, "s").test(value);
  return pattern === value;
}
