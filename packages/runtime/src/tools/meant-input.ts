import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { fromText, ofOne, parsed, toType, unquoted } from "./value-types.ts";

/** How far a tool goes to understand an input that does not fit its schema. */
export type Forgiveness = {
  /** Other names that models use for a property: `{ path: "file_path" }`. */
  readonly names?: Readonly<Record<string, string>>;
  /** Unknown properties are left out, except these: without them the call would do something else than was meant. Absent: none is left out. */
  readonly needed?: readonly string[];
  /** Numbers of which 0 and less mean "not given", and texts of which `undefined` and `null` do. */
  readonly unset?: readonly string[];
  /** Other words for one of a list, by the property: `{ status: { done: "completed" } }`, in small letters and without blanks. */
  readonly words?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Before anything else: other shapes of the whole input, which the schema has no place for. */
  readonly reshape?: (input: JsonObject, note: (sentence: string) => void) => JsonObject;
  /** Adds what follows from the rest of the input; the same object where nothing does. */
  readonly complete?: (input: JsonObject) => JsonObject;
};

/** What a tool declares: most calls need none of it, so that it may be loaded when one does. */
export type DeclaredForgiveness = Forgiveness | (() => Promise<Forgiveness>);

export async function loadForgiveness(declared: DeclaredForgiveness): Promise<Forgiveness> {
  return typeof declared === "function" ? await declared() : declared;
}

export type MeantInput = { readonly input: JsonObject; readonly notes: readonly string[] };

/**
 * The input as it was meant: numbers, booleans and lists that came as text, a property under another name, null for "not given", a
 * number outside its limits, a word of a list in other letters, properties nobody knows. Undefined where nothing of that kind is in it.
 * Only what can mean one thing changes.
 */
export function toMeantInput(schema: JsonObject, given: unknown, forgiveness: Forgiveness): MeantInput | undefined {
  const input = toInputObject(given, schema) ?? (forgiveness.needed && fromBareText(given, schema));
  if (!input) return undefined;
  const notes = new Set<string>();
  const shaped = forgiveness.reshape?.(input, (sentence) => notes.add(sentence)) ?? input;
  const fitting = meantObject(shaped, schema, { forgiveness, notes, path: "" });
  const meant = forgiveness.complete?.(fitting) ?? fitting;
  return meant === given ? undefined : { input: meant, notes: [...notes] };
}

const wrappers: ReadonlySet<string> = new Set(["input", "arguments", "args", "parameters", "params"]);

/** The input that was wrapped once more: as text, in a list, or under a name of its own. */
function toInputObject(given: unknown, schema: JsonObject): JsonObject | undefined {
  if (typeof given === "string")
    return toInputObject(
      parsed(unquoted(given.trim()), () => true),
      schema,
    );
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  if (Array.isArray(given)) return inList(given as JsonValue[], properties, schema["required"]);
  if (!isJsonObject(given)) return undefined;
  const [[name, value] = ["", null], ...others] = Object.entries(given);
  if (others.length > 0 || !wrappers.has(name) || Object.hasOwn(properties, name)) return given;
  const inner = typeof value === "string" ? parsed(value.trim(), isJsonObject) : value;
  return isJsonObject(inner) ? inner : given;
}

/** A text is what a tool takes that takes nothing else. Broken JSON is not: who knows what was in it. */
function fromBareText(given: unknown, schema: JsonObject): JsonObject | undefined {
  const [[name, property] = ["", null], ...others] = Object.entries(
    isJsonObject(schema["properties"]) ? schema["properties"] : {},
  );
  if (typeof given !== "string" || /^\s*(?:[[{"]|$)/.test(given) || others.length > 0) return undefined;
  return isJsonObject(property) && property["type"] === "string" ? { [name]: given } : undefined;
}

/** A bare list is the one list that the tool cannot do without; a list of one object is that object. */
function inList(given: JsonValue[], properties: JsonObject, required: JsonValue | undefined): JsonObject | undefined {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const [only, ...others] = names;
  const property = only === undefined ? undefined : properties[only];
  if (only !== undefined && others.length === 0 && isJsonObject(property) && property["type"] === "array")
    return { [only]: given };
  return given.length === 1 && isJsonObject(given[0]) ? given[0] : undefined;
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
    if (name === undefined && isLeftOut([given, value], schema, walk)) {
      changed = true;
      continue;
    }
    const isTwice = name !== given && names.filter((one) => one === name).length > 1;
    if (name === undefined || !isJsonObject(property) || isTwice) {
      meant.set(given, value); // two for one: it is not clear which counts
      continue;
    }
    if (!required.includes(name) && isNothing(value, property)) {
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
  const other = Object.keys(names).find((name) => plain(name) === plain(given));
  if (other !== undefined) return names[other];
  const alike = Object.keys(properties).filter((name) => plain(name) === plain(given));
  return alike.length === 1 ? alike[0] : undefined;
}

function plain(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}

/** Null, and no text where none can be meant: a number, a word of a list, a path. */
function isNothing(value: JsonValue, property: JsonObject): boolean {
  if (value === null) return !accepts(property, "null");
  if (typeof value !== "string" || typeof property["type"] !== "string") return false;
  if (property["type"] !== "string") return /^(?:null|undefined|none)?$/i.test(value.trim());
  return value.trim() === "" && (property["enum"] !== undefined || Number(property["minLength"] ?? 0) > value.length);
}

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === "" || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function isLeftOut([name, value]: [string, JsonValue], schema: JsonObject, { forgiveness, notes, path }: Walk): boolean {
  if (schema["additionalProperties"] !== false || !forgiveness.needed) return false;
  if (forgiveness.needed.includes(name) && !isEmpty(value)) return false;
  notes.add(`${quote(path, name)} is not a known property and was left out.`);
  return true;
}

function isUnset(name: string, value: JsonValue, { forgiveness, notes, path }: Walk): boolean {
  if (typeof value === "string" && forgiveness.unset?.includes(name) && /^(?:undefined|null)$/.test(value.trim())) return true;
  const number = typeof value === "string" ? fromText(value, "number") : value;
  if (typeof number !== "number" || number > 0 || !forgiveness.unset?.includes(name)) return false;
  notes.add(`${quote(path, name)} was ${number} and was taken as not given.`);
  return true;
}

function meantValue(value: JsonValue, schema: JsonObject, walk: Walk): JsonValue {
  if (typeof schema["type"] !== "string") return value; // several kinds: what is there may be one of them
  const said = toType(value, schema["type"]);
  if (said !== undefined && typeof value === "string") noteText(said, walk);
  const typed = said ?? (walk.forgiveness.needed && ofOne(value, schema)) ?? value;
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
  const [word = forgiveness.words?.[path.slice(path.lastIndexOf(".") + 1)]?.[bare(given)]] = alike;
  if (word === undefined || alike.length > 1) return given;
  notes.add(`"${path}" was ${JSON.stringify(given)} and was taken for ${JSON.stringify(word)}.`);
  return word;
}

function meantItems(items: JsonValue[], schema: JsonObject, walk: Walk): JsonValue[] {
  const meant = items.map((item) => meantValue(item, schema, { ...walk, path: `${walk.path}[]` }));
  return meant.some((item, index) => item !== items[index]) ? meant : items;
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
