import type { JsonObject, JsonValue } from "../protocol/content.ts";

/** The beginning of a list that was written before: its items, and their text. */
type Beginning = { readonly items: readonly JsonValue[]; readonly text: string };

/** The end of a list is not kept: dialects mark the last items, and another time they are others. */
const looseItems = 8;
/** A beginning is put together again when it has become so much longer. */
const step = 64;

/**
 * Writes request bodies as JSON. Nearly all of a conversation was in the request before: items of a list that a dialect answers again, as the
 * same objects, are not written again. So an object that was answered once must never change.
 */
export class BodyText {
  readonly #written = new WeakMap<object, string>();
  /** By the first item: one client serves several conversations at once. */
  readonly #beginnings = new WeakMap<object, Beginning>();

  write(body: JsonObject): string {
    const fields: string[] = [];
    for (const [name, value] of Object.entries(body))
      if (value !== undefined) fields.push(`${JSON.stringify(name)}:${Array.isArray(value) ? this.#list(value) : toText(value)}`);
    return `{${fields.join(",")}}`;
  }

  #list(items: readonly JsonValue[]): string {
    const [first] = items;
    if (items.length < step || !isObject(first)) return `[${this.#join(items)}]`;
    const known = this.#beginnings.get(first);
    const begun = known && isBeginning(known.items, items) ? known : { items: [], text: "" };
    const settled = items.length - looseItems;
    if (settled - begun.items.length < step)
      return `[${begun.text}${begun.text && ","}${this.#join(items.slice(begun.items.length))}]`;
    const added = items.slice(begun.items.length, settled);
    // All in one go, which takes half as long as one by one; none of them is asked for by itself any more.
    const text = `${begun.text}${begun.text && ","}${toText(added).slice(1, -1)}`;
    for (const item of added) if (isObject(item)) this.#written.delete(item);
    this.#beginnings.set(first, { items: items.slice(0, settled), text });
    return `[${text},${this.#join(items.slice(settled))}]`;
  }

  #join(items: readonly JsonValue[]): string {
    const texts: string[] = [];
    for (const item of items) texts.push(isObject(item) ? this.#item(item) : toText(item));
    return texts.join(",");
  }

  #item(item: object & JsonValue): string {
    const before = this.#written.get(item);
    if (before !== undefined) return before;
    const text = toText(item);
    this.#written.set(item, text);
    return text;
  }
}

function isBeginning(beginning: readonly JsonValue[], items: readonly JsonValue[]): boolean {
  if (beginning.length > items.length) return false;
  for (let index = 0; index < beginning.length; index++) if (beginning[index] !== items[index]) return false;
  return true;
}

function isObject(value: JsonValue | undefined): value is object & JsonValue {
  return typeof value === "object" && value !== null;
}

/** JSON writes half characters as escapes, which servers refuse. A dialect that cuts a text in two may make some. */
function toText(value: JsonValue): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (found, half: string | undefined) => (half ? "\\ufffd" : found));
}
