/** Strings longer than this are kept in files of their own, named after what they hold. */
export const largeValueLength: number = 64 * 1024;

/** The one key of an object that stands for a text kept elsewhere. */
const referenceKey = "$outrider.text";
const escapedKey = /^\$+outrider\.text$/;

export type TextReference = { sha256: string; bytes: number };

/** Whether a line may hold references, or values that look like them: most hold none and need no second look. */
export function mentionsReferences(line: string | Buffer): boolean {
  return line.includes(`${referenceKey}"`);
}

/** Replaces long strings by what `keep` says; a string for which it answers nothing stays. What looks like a reference already is escaped. */
export function dehydrate(value: unknown, keep: (text: string) => TextReference | undefined): unknown {
  if (typeof value === "string") {
    const reference = value.length > largeValueLength ? keep(value) : undefined;
    return reference ? { [referenceKey]: reference } : value;
  }
  return mapEntries(value, {
    key: (name) => (escapedKey.test(name) ? `$${name}` : name),
    value: (item) => dehydrate(item, keep),
  });
}

/** The way back: `find` answers the text of a reference. */
export function hydrate(value: unknown, find: (reference: TextReference) => string): unknown {
  const reference = toReference(value);
  if (reference) return find(reference);
  return mapEntries(value, {
    key: (name) => (name !== referenceKey && escapedKey.test(name) ? name.slice(1) : name),
    value: (item) => hydrate(item, find),
  });
}

function toReference(value: unknown): TextReference | undefined {
  if (typeof value !== "object" || value === null || !(referenceKey in value)) return undefined;
  const inner = value[referenceKey];
  if (typeof inner !== "object" || inner === null || !("sha256" in inner) || !("bytes" in inner)) return undefined;
  const { sha256, bytes } = inner;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256) || typeof bytes !== "number") return undefined;
  return { sha256, bytes };
}

function mapEntries(value: unknown, map: { key: (name: string) => string; value: (item: unknown) => unknown }): unknown {
  if (Array.isArray(value)) return value.map(map.value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [map.key(name), map.value(item)]));
}

/** References in raw bytes of logs, whole or damaged. */
export const referencePattern: RegExp = /\$outrider\.text":\{"sha256":"([0-9a-f]{64})"/g;
