import { toSafeJson } from "../../util/jsonl.ts";

/** Where a value that is too long for a line is kept: answers the path, or undefined when it could not be kept. */
export type Spill = (name: string, content: string | Uint8Array) => string | undefined;

/** Readers with fixed buffers take a mebibyte per line; ours stay under a million bytes. */
export const maxLineBytes = 1_000_000;
const previewCharacters = 2_000;

/** JSON on one line: no raw control characters, nothing that splits lines, valid UTF-8 whatever the strings hold. */
export function toWireJson(value: unknown): string {
  const json = toSafeJson(value);
  return controls.test(json) ? json.replaceAll(allControls, escapeControl) : json;
}

/** A frame as a line. What does not fit goes to a file that `persisted_output` names, and its beginning stays. */
export function toWireLine(frame: Record<string, unknown>, spill?: Spill): string {
  const json = toWireJson(frame);
  if (fits(json)) return `${json}\n`;
  return `${toWireJson(new Shortening(frame, spill).frame)}\n`;
}

// DEL and C1: JSON allows them raw, terminals obey them.
const controls = /[\u007f-\u009f]/;
const allControls = /[\u007f-\u009f]/g;

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Each character takes at most three bytes, so short texts need no counting. */
function fits(json: string): boolean {
  return json.length < maxLineBytes / 3 || Buffer.byteLength(json) < maxLineBytes;
}

type Place = { readonly holder: Record<string, unknown>; readonly key: string; readonly path: string; readonly size: number };
type Persisted = { field: string; path: string | null; bytes: number };

/** Makes one frame short: images first, then texts from the longest on, then whole fields. */
class Shortening {
  readonly frame: Record<string, unknown>;
  readonly #spill: Spill | undefined;
  readonly #persisted: Persisted[] = [];

  constructor(frame: Record<string, unknown>, spill: Spill | undefined) {
    this.#spill = spill;
    this.frame = JSON.parse(JSON.stringify(frame)); // a copy: other readers of the event keep theirs
    for (const place of placesIn(this.frame, isImage)) this.#shortenImage(place);
    for (const place of placesIn(this.frame, isLongText).sort(longestFirst)) {
      if (this.#fits()) break;
      this.#shortenText(place);
    }
    for (const place of fieldsOf(this.frame).sort(longestFirst)) {
      if (this.#fits()) break;
      this.#dropField(place);
    }
    this.frame["persisted_output"] = this.#persisted;
  }

  #fits(): boolean {
    return fits(toWireJson({ ...this.frame, persisted_output: this.#persisted }));
  }

  #shortenImage({ holder, key, path }: Place): void {
    const { source } = holder[key] as ImageBlock; // what `isImage` found
    const bytes = Buffer.from(source.data, "base64");
    const kept = this.#keep(path, bytes, `.${source.media_type.replace(/^.*\//, "").replace(/\W.*$/, "")}`);
    holder[key] = { type: "text", text: `[An image (${source.media_type}, ${bytes.length} bytes) ${whereabouts(kept)}]` };
  }

  #shortenText({ holder, key, path }: Place): void {
    const text = String(holder[key]);
    const kept = this.#keep(path, text, ".txt");
    const shown = text.slice(0, previewCharacters);
    holder[key] = `${shown}\n… ${text.length - shown.length} characters omitted; the whole text ${whereabouts(kept)} …`;
  }

  #dropField({ holder, key, path }: Place): void {
    const value = holder[key];
    this.#keep(path, toWireJson(value), ".json");
    holder[key] = Array.isArray(value) ? [] : typeof value === "string" ? "" : {};
  }

  #keep(field: string, content: string | Uint8Array, extension: string): string | undefined {
    const { type, uuid } = this.frame;
    const path = this.#spill?.(`${type}-${uuid}-${field.replace(/[^\w.-]/g, "_")}${extension}`, content);
    this.#persisted.push({ field, path: path ?? null, bytes: Buffer.byteLength(content) });
    return path;
  }
}

function whereabouts(path: string | undefined): string {
  return path === undefined ? "could not be kept" : `is in ${path}`;
}

type ImageBlock = { type: "image"; source: { media_type: string; data: string } };

function isImage(value: unknown): boolean {
  const block = value as Partial<ImageBlock> | null; // looked at, field by field
  return typeof block === "object" && block?.type === "image" && (block.source?.data?.length ?? 0) > previewCharacters;
}

function isLongText(value: unknown): boolean {
  return typeof value === "string" && value.length > previewCharacters + 200;
}

function placesIn(value: unknown, wanted: (value: unknown) => boolean, at = ""): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>; // arrays have keys too
  return Object.keys(holder).flatMap((key) => {
    const path = at === "" ? key : `${at}.${key}`;
    const inner = holder[key];
    if (wanted(inner)) return [{ holder, key, path, size: typeof inner === "string" ? inner.length : 0 }];
    return placesIn(inner, wanted, path);
  });
}

/** What a frame can do without in the worst case. */
function fieldsOf(frame: Record<string, unknown>): Place[] {
  return Object.keys(frame).flatMap((key) =>
    named.has(key) || frame[key] === null
      ? []
      : [{ holder: frame, key, path: key, size: JSON.stringify(frame[key])?.length ?? 0 }],
  );
}

const named = new Set(["type", "subtype", "session_id", "uuid", "is_error", "num_turns", "duration_ms", "duration_api_ms"]);

function longestFirst(a: Place, b: Place): number {
  return b.size - a.size;
}
