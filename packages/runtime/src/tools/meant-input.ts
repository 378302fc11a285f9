import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";

/** How far a tool goes to understand an input that does not fit its schema. */
export type Forgiveness = {
  /** Other names that models use for a property: `{ path: "file_path" }`. */
  readonly names?: Readonly<Record<string, string>>;
  /** Unknown properties are left out, except these: without them the call would do something else than was meant. Absent: none is left out. */
  readonly needed?: readonly string[];
  /** Numbers of which 0 and less mean "not given". */
  readonly unset?: readonly string[];
  /** Adds what follows from the rest of the input; the same object where nothing does. */
  readonly complete?: (input: JsonObject) => JsonObject;
};

export type MeantInput = { readonly input: JsonObject; readonly notes: readonly string[] };

/**
 * The input as it was meant: numbers, booleans and lists that came as text, a property under another name, null for "not given", a
 * number outside its limits, a word of a list in other letters, properties nobody knows. Undefined where nothing of that kind is in it.
 * Only what can mean one thing changes.
 */
export function toMeantInput(schema: JsonObject, input: unknown, forgiveness: Forgiveness): MeantInput | undefined {
  if (!isJsonObject(input)) return undefined;
  const notes = new Set<string>();
  const fitting = meantObject(input, schema, { forgiveness, notes, path: "" });
  const meant = forgiveness.complete?.(fitting) ?? fitting;
  return meant === input ? undefined : { input: meant, notes: [...notes] };
}

type Walk = { readonly forgiveness: Forgiveness; readonly notes: Set<string>; readonly path: string };

function meantObject(input: JsonObject, schema: JsonObject, walk: Walk): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const meant = new Map<string, JsonValue>();
  const names = Object.keys(input).map((given) => meantName(given, properties, walk.forgiveness));
  let changed = false;
  for (const [index, [given, value]] of Object.entries(input).entries()) {
    const name = names[index];
    const property = name === undefined ? undefined : properties[name];
    if (name === undefined && isLeftOut(given, schema, walk)) {
      changed = true;
      continue;
    }
    const isTwice = name !== given && names.filter((one) => one === name).length > 1;
    if (name === undefined || !isJsonObject(property) || isTwice) {
      meant.set(given, value); // two for one: it is not clear which counts
      continue;
    }
    if (value === null && !required.includes(name) && !accepts(property, "null")) {
      changed = true; // how some providers make models say that they give nothing
      continue;
    }
    if (isUnset(name, value, walk)) {
      changed = true;
      continue;
    }
    const fitting = meantValue(value, property, { ...walk, path: pathTo(walk.path, name) });
    if (name !== given) walk.notes.add(`${quote(walk.path, given)} was taken for ${quote(walk.path, name)}.`);
    if (name !== given || fitting !== value) changed = true;
    meant.set(name, fitting);
  }
  return changed ? Object.fromEntries(meant) : input;
}

/** The property that is meant: by its name, by another one, or by the same in other letters (`filePath` for `file_path`). */
function meantName(given: string, properties: JsonObject, { names = {}, needed }: Forgiveness): string | undefined {
  if (Object.hasOwn(properties, given)) return given;
  if (!needed) return undefined; // of another's tool nobody knows what an unknown name does
  if (Object.hasOwn(names, given)) return names[given];
  const alike = Object.keys(properties).filter((name) => plain(name) === plain(given));
  return alike.length === 1 ? alike[0] : undefined;
}

function plain(name: string): string {
  return name.replace(/^-+|_/g, "").toLowerCase();
}

function isLeftOut(name: string, schema: JsonObject, { forgiveness, notes, path }: Walk): boolean {
  if (schema["additionalProperties"] !== false || !forgiveness.needed || forgiveness.needed.includes(name)) return false;
  notes.add(`${quote(path, name)} is not a known property and was left out.`);
  return true;
}

function isUnset(name: string, value: JsonValue, { forgiveness, notes, path }: Walk): boolean {
  const number = typeof value === "string" ? fromText(value, "number") : value;
  if (typeof number !== "number" || number > 0 || !forgiveness.unset?.includes(name)) return false;
  notes.add(`${quote(path, name)} was ${number} and was taken as not given.`);
  return true;
}

function meantValue(value: JsonValue, schema: JsonObject, walk: Walk): JsonValue {
  if (typeof schema["type"] !== "string") return value; // several kinds: what is there may be one of them
  const typed = toType(value, schema["type"]);
  if (typed !== value && typeof value === "string") noteText(typed, walk);
  if (typeof typed === "string" && Array.isArray(schema["enum"])) return meantWord(typed, schema["enum"], walk);
  if (typeof typed === "number") return withinLimits(typed, schema, walk);
  if (Array.isArray(typed) && isJsonObject(schema["items"])) return meantItems(typed, schema["items"], walk);
  return isJsonObject(typed) ? meantObject(typed, schema, walk) : typed;
}

/** The word of the list that is the same in other letters, if only one is. */
function meantWord(given: string, words: JsonValue[], { forgiveness, notes, path }: Walk): string {
  if (!forgiveness.needed || words.includes(given)) return given;
  const bare = (word: string): string => word.replace(/[-_\s]/g, "").toLowerCase();
  const alike = words.filter((word): word is string => typeof word === "string" && bare(word) === bare(given));
  const [word] = alike;
  if (word === undefined || alike.length > 1) return given;
  notes.add(`"${path}" was ${JSON.stringify(given)} and was taken for ${JSON.stringify(word)}.`);
  return word;
}

function meantItems(items: JsonValue[], schema: JsonObject, walk: Walk): JsonValue[] {
  const meant = items.map((item) => meantValue(item, schema, { ...walk, path: `${walk.path}[]` }));
  return meant.some((item, index) => item !== items[index]) ? meant : items;
}

/** The value in another type, if it says the same; otherwise as it is. */
function toType(value: JsonValue, type: string): JsonValue {
  if (typeof value === "string") return fromText(value, type) ?? value;
  if (type === "boolean" && (value === 0 || value === 1)) return value === 1;
  const isPlain = typeof value === "number" || typeof value === "boolean";
  return type === "string" && isPlain ? String(value) : value;
}

function fromText(text: string, type: string): JsonValue | undefined {
  const trimmed = text.trim();
  switch (type) {
    case "integer":
      return /^-?\d{1,15}$/.test(trimmed) ? Number(trimmed) : undefined;
    case "number":
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(trimmed) ? Number(trimmed) : undefined;
    case "boolean":
      return /^(true|false|[01])$/i.test(trimmed) ? /^(true|1)$/i.test(trimmed) : undefined;
    case "array":
      return parsed(trimmed, Array.isArray);
    case "object":
      return parsed(trimmed, isJsonObject);
    default:
      return undefined;
  }
}

function parsed(text: string, fits: (value: JsonValue) => boolean): JsonValue | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonValue; // whatever JSON holds is one
    return fits(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Limits of the built-in tools say what is possible, not what is right: the nearest possible number is what was meant. */
function withinLimits(value: number, { minimum, maximum }: JsonObject, { forgiveness, notes, path }: Walk): number {
  if (!forgiveness.needed) return value;
  const low = typeof minimum === "number" ? Math.max(value, minimum) : value;
  const fitting = typeof maximum === "number" ? Math.min(low, maximum) : low;
  if (fitting !== value)
    notes.add(`"${path}" was ${value}; ${fitting} is the ${fitting > value ? "least" : "most"}, and was used.`);
  return fitting;
}

function noteText(value: JsonValue, { notes, path }: Walk): void {
  const kind = Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
  notes.add(`"${path}" came as text and was taken as ${kind}.`);
}

function accepts(schema: JsonObject, type: string): boolean {
  const { type: types } = schema;
  if (types === undefined) return true;
  return Array.isArray(types) ? types.includes(type) : types === type;
}

function pathTo(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

function quote(path: string, name: string): string {
  return `"${pathTo(path, name)}"`;
}
