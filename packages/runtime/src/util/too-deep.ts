/** No JSON that is meant seriously goes deeper; deeper JSON could overflow the stack of code that walks through it, clones it or writes it. */
export const maxJsonDepth = 500;

/** Is something nested in a value more than `limit` levels deep? Without recursion: what is looked for would end it. */
export function isTooDeep(value: unknown, limit: number = maxJsonDepth): boolean {
  let level: object[] = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const inner: object[] = [];
    for (const outer of level) for (const item of Object.values(outer)) if (isContainer(item)) inner.push(item);
    level = inner;
  }
  return false;
}

/** A value as JSON, without what is nested too deeply. */
export function toBoundedJson(value: unknown): string {
  return JSON.stringify(isTooDeep(value) ? withoutDepth(value, shownLevels) : value);
}

/** What is kept of an input that cannot be used. One that was shortened is no JSON any more, so that nobody reads it as what was meant. */
export function toBrokenInput(value: unknown): string {
  return isTooDeep(value) ? `(shortened) ${toBoundedJson(value)}` : JSON.stringify(value);
}

/** Enough to see what it was. */
const shownLevels = 8;

function withoutDepth(value: unknown, levels: number): unknown {
  if (!isContainer(value)) return value;
  if (levels === 0) return "…";
  if (Array.isArray(value)) return value.map((item) => withoutDepth(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutDepth(item, levels - 1)]));
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
