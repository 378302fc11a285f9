/** Text without half characters (lone surrogates), which no wire can carry. Plain text is not even read: V8 knows that it has none. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** The same for every string of a JSON value, names of properties included; the value itself where nothing had to change. */
export function wellFormedValue<T>(value: T, depth: number = 0): T {
  return mend(value, depth) as T; // strings stay strings, lists lists, and objects objects
}

/** True when nothing in a JSON value would have to change. Looks without making anything: whole conversations are looked at. */
export function isWellFormedValue(value: unknown, depth: number = 0): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isWellFormedValue(item, depth + 1)) return false;
    return true;
  }
  const record = value as Record<string, unknown>; // any object can be read by key
  for (const name in record) if (!name.isWellFormed() || !isWellFormedValue(record[name], depth + 1)) return false;
  return true;
}

/** Deeper values could not be written as JSON any more. */
const maxDepth = 500;

function mend(value: unknown, depth: number): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return "(nested too deeply to be sent)";
  if (Array.isArray(value)) {
    const items = value.map((item) => mend(item, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let changed = false;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    const mended: [string, unknown] = [wellFormed(name), mend(item, depth + 1)];
    changed ||= mended[0] !== name || mended[1] !== item;
    return mended;
  });
  return changed ? Object.fromEntries(entries) : value;
}
