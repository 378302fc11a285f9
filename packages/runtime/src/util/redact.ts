import { type FindParts, findInHex } from "./hex-secrets.ts";
import {
  keyForms,
  type KnownSecrets,
  prepareSecrets,
  type SecretSources,
  shortBeginning,
  startsSecret,
} from "./known-secrets.ts";
import type { Masked } from "./masked.ts";
import { privateKey } from "./key-shapes.ts";
import type { SecretPieces } from "./secret-pieces.ts";
import type { SecretShape } from "./secret-shapes.ts";
import type { FindKnown, KnownPlace } from "./secret-texts.ts";
import { isPlainPiece, unsettledIn } from "./unfinished-secrets.ts";

export type RedactorOptions = SecretSources;

/**
 * Hides secrets: everything that is stored or printed goes through here. The same secret always looks the same afterwards,
 * `[redacted:GITHUB_TOKEN]` or `[redacted:anthropic-key]`, and what is hidden once is not changed again.
 */
export interface Redactor {
  text(text: string): Masked<string>;
  /** Every string in a JSON value; the very same object when nothing in it is secret. Images and opaque payloads stay as they are. */
  value<T>(value: T): Masked<T>;
  /** The same, but only known values: what merely looks like a secret stays. */
  known<T>(value: T): Masked<T>;
  /** Does this mask stand for something: has it been put somewhere, or is it that of a known value? */
  standsFor(mask: string): boolean;
  /** The masks that were put in an earlier run of the session; asked for when one is first needed. */
  recall(masks: () => Iterable<string>): void;
  /** Remembers the private keys in a text of which only parts will be shown. */
  meet(text: string): void;
  /** What `value` hides, by the mask that stands in its place: more than one text where masks look the same. */
  hidden(value: unknown): ReadonlyMap<string, ReadonlySet<string>>;
  /** Is there surely nothing to hide or to hold back in the next piece of a text? Quick, and right for nearly every piece. */
  isPlain(before: string, piece: string): boolean;
  /** The part of `text` behind `from`; what stands before is context and was handed out already. */
  textFrom(text: string, from: number): Masked<string>;
  /** How many characters at the end of a text that is still being written may be the beginning of a secret. */
  unsettled(text: string): number;
}

export function createRedactor(options: RedactorOptions = {}): Redactor {
  let prepared: KnownSecrets | undefined;
  const get = (): KnownSecrets => {
    prepared ??= prepareSecrets(options);
    return prepared;
  };
  let clean: { readonly text: string; readonly met: number } | undefined;
  const put = new Set<string>();
  let earlier: (() => Iterable<string>) | undefined;
  const note: Note = (mask) => put.add(mask);
  const text = (given: string): Masked<string> => {
    if (given.length > longText && given === clean?.text && get().met.size === clean.met) return given as Masked<string>; // nothing in it is secret
    const shown = redactFrom(get(), given, { note });
    if (given.length > longText && shown === given) clean = { text: given, met: get().met.size };
    return shown;
  };
  /** Looks at all texts of a value in one go: nearly every value has nothing to hide. */
  const isClean = (value: unknown): boolean => {
    const { shortest, met } = get();
    const texts: string[] = [];
    const isKnown = (given: string): boolean => given === clean?.text && met.size === clean.met;
    const add = (given: string): void => {
      if (given.length >= shortest && !isKnown(given)) texts.push(given);
    };
    if (!gatherTexts(value, add)) return false;
    const all = texts.join(betweenTexts);
    if (redactFrom(get(), all, { note: undefined }) !== all) return false;
    const long = texts.findLast((given) => given.length > longText);
    if (long !== undefined) clean = { text: long, met: met.size };
    return true;
  };
  return {
    text,
    value: <T>(value: T): Masked<T> =>
      (typeof value === "object" && isClean(value) ? value : redactValue(value, text)) as Masked<T>, // strings stay strings, lists lists, and objects keep their properties
    known: <T>(value: T): Masked<T> =>
      redactValue(value, (text) => hidePieces(get().pieces, hideKnown(get(), { text, note }), note)) as Masked<T>, // as above
    standsFor(mask) {
      for (const seen of earlier?.() ?? []) put.add(seen);
      earlier = undefined;
      return put.has(mask) || [...get().nameOf.values()].some((name) => mask === `[${name}]`);
    },
    recall(masks) {
      earlier = masks;
    },
    meet(given) {
      if (given.includes("PRIVATE KEY")) hideShapes(get(), { text: given, note: () => {} });
    },
    hidden(value) {
      const found = new Map<string, Set<string>>();
      const hear: Note = (mask, secret) => found.set(mask, (found.get(mask) ?? new Set()).add(secret));
      redactValue(value, (given) => redactFrom(get(), given, { note: hear }));
      return found;
    },
    isPlain: (before, piece) => isPlainPiece(get(), before, piece),
    textFrom: (given, from) => redactFrom(get(), given, { from, note }),
    unsettled: (given) => unsettledIn(get(), given),
  };
}

/** From here on the last text without secrets is known again: an answer comes by several times, the last time as the outcome. */
const longText = 256;

/** Hears of each place that is hidden. */
type Note = (mask: string, secret: string) => void;

function redactFrom(known: KnownSecrets, text: string, { from = 0, note }: Omit<Part, "text">): Masked<string> {
  if (text.length < known.shortest) return text.slice(from) as Masked<string>; // no secret is so short
  const plain = hideKnown(known, { text, from, note });
  const shaped = hideShapes(known, { text: plain, from, note });
  const whole = hidePieces(known.pieces, hidePieces(known.met, shaped, note), note); // last: of a whole one no part is shown
  // Behind a part that was hidden a word begins anew.
  const settled = whole === shaped ? whole : hideShapes(known, { text: whole, note });
  return settled as Masked<string>; // the only place where a secret is hidden
}

/** What stands before `from` is context and stays. Without a note it is only a look: no key is remembered for later. */
type Part = { readonly text: string; readonly from?: number; readonly note: Note | undefined };

function hideKnown({ exact, bytes, nameOf, pieces, met }: KnownSecrets, { text, from = 0, note }: Part): string {
  const plain = nameOf.size === 0 ? text : hidePlaces(findExact(exact, text, from), { text, from, note });
  const parts: FindParts = function* (written) {
    yield* pieces.find(written);
    yield* met.find(written);
    yield* findKey(written);
  };
  return hidePlaces(findInHex(bytes, plain, from, parts), { text: plain, from, note });
}

/** A private key from its first line on, also where its end is not shown. */
function* findKey(written: string): Generator<KnownPlace> {
  const start = written.search(/-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----/);
  if (start === -1) return;
  const end = written.indexOf("-----END ", start);
  yield { start, end: end === -1 ? written.length : end, name: `redacted:${privateKey}` };
}

function hidePieces(pieces: SecretPieces, text: string, note: Note | undefined): string {
  return hidePlaces(pieces.find(text), { text, note });
}

function hidePlaces(places: Iterable<KnownPlace>, { text, from = 0, note }: Part): string {
  let shown = text.slice(0, from);
  let done = from;
  for (const { start, end, name } of places) {
    const mask = `[${name}]`;
    note?.(mask, text.slice(start, end));
    shown += text.slice(done, Math.max(done, start)) + mask;
    done = end;
  }
  return shown + text.slice(done);
}

/** The known values behind `from`, and one that began a little before, unnoticed. */
function* findExact(exact: FindKnown, text: string, from: number): Generator<KnownPlace> {
  for (let hit = exact(text, Math.max(0, from - shortBeginning)); hit; hit = exact(text, hit.end)) yield hit;
}

function hideShapes(known: KnownSecrets, { text, from = 0, note }: Part): string {
  const { triggers, shapesOf } = known;
  let shown = "";
  let done = from;
  const quiet = new Map<SecretShape, number>();
  triggers.lastIndex = Math.max(0, from - shortBeginning); // one that began a little before, unnoticed
  for (let hit = triggers.exec(text); hit; hit = triggers.exec(text)) {
    const { index } = hit;
    const isAfterHidden = index === done && done > from; // a bracket will stand before it
    let next = index + 1;
    for (const shape of shapesOf(hit[0])) {
      if (index < (quiet.get(shape) ?? 0) || !(isAfterHidden || startsSecret(text, index, shape))) continue;
      const found = shape.find(text, index);
      if (found?.kind === undefined) {
        if (found) quiet.set(shape, found.end);
        continue;
      }
      const kind = keyAt(text, found.start, known) ?? found.kind;
      const mask = `[redacted:${kind}]`;
      if (note) for (const form of keyForms(text.slice(found.start, found.end))) known.met.add(form, `redacted:${kind}`);
      note?.(mask, text.slice(found.start, found.end));
      shown += text.slice(done, Math.max(done, found.start)) + mask;
      done = found.end;
      next = found.end;
      break;
    }
    triggers.lastIndex = next;
  }
  return shown + text.slice(done);
}

/** A key looks the same whatever word stands before it. */
function keyAt(text: string, at: number, { triggers, shapesOf }: KnownSecrets): string | undefined {
  triggers.lastIndex = at;
  const hit = triggers.exec(text.slice(0, at + 32));
  if (hit?.index !== at) return undefined;
  for (const shape of shapesOf(hit[0])) {
    const found = shape.find(text, at);
    if (found?.kind !== undefined && found.start === at) return found.kind;
  }
  return undefined;
}

/** No event needs more; a value that goes deeper could not be written as JSON without running out of stack. */
const maxDepth = 500;

function redactValue(value: unknown, redact: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return "[nested too deeply to be kept]";
  if (!Array.isArray(value)) return redactObject(value as Record<string, unknown>, redact, depth); // neither null nor a list
  const items = redactLines(value, redact) ?? value;
  let list: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const shown = redactValue(item, redact, depth + 1);
    if (shown === item) continue;
    list ??= [...items];
    list[index] = shown;
  }
  return list ?? items;
}

/** No secret goes over it, and behind it everything begins anew as at the beginning of a text. */
const betweenTexts = "\n\0\n";

/** Hands over all that `redactValue` would look at; false where it would change the value whatever stands in its texts. */
function gatherTexts(value: unknown, add: (text: string) => void, depth = 0): boolean {
  if (typeof value === "string") add(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) {
    const lines = linesOf(value);
    if (lines) add(lines.join("\n"));
    return value.every((item) => gatherTexts(item, add, depth + 1));
  }
  const object = value as Record<string, unknown>; // neither null nor a list
  for (const key in object) {
    if (!Object.hasOwn(object, key) || isOpaque(object, key)) continue;
    add(key);
    if (!gatherTexts(object[key], add, depth + 1)) return false;
  }
  return true;
}

/** Texts of a list, and the lines of a difference, may be those of one text: what goes over several of them is hidden line by line, as in a dump. */
function redactLines(list: readonly unknown[], redact: (text: string) => string): readonly unknown[] | undefined {
  const texts = linesOf(list);
  if (!texts) return undefined;
  const joined = texts.join("\n");
  const shown = redact(joined);
  if (shown === joined) return undefined;
  const lines = shown.split("\n");
  if (lines.length !== joined.split("\n").length) return undefined;
  let at = 0;
  return texts.map((given, index) => {
    const from = at;
    at += given.split("\n").length;
    const text = lines.slice(from, at).join("\n");
    const item = list[index];
    return isDiffLine(item) ? { ...item, text } : text;
  });
}

function linesOf(list: readonly unknown[]): readonly string[] | undefined {
  const texts: string[] = [];
  for (const item of list) {
    if (typeof item === "string") texts.push(item);
    else if (isDiffLine(item)) texts.push(item.text);
    else return undefined;
  }
  return texts;
}

function isDiffLine(item: unknown): item is { readonly text: string } {
  if (typeof item !== "object" || item === null) return false;
  const { type, text } = item as { readonly type?: unknown; readonly text?: unknown }; // an object may have any property
  return typeof text === "string" && diffTypes.has(type);
}

const diffTypes: ReadonlySet<unknown> = new Set(["hunk", "context", "remove", "add"]);

function redactObject(value: Record<string, unknown>, redact: (text: string) => string, depth: number): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    if (!Object.hasOwn(value, key) || isOpaque(value, key)) continue;
    const item = value[key];
    const shown = redactValue(item, redact, depth + 1);
    const name = redact(key);
    if (shown === item && name === key) continue;
    copy ??= { ...value };
    if (name !== key) delete copy[key];
    Object.defineProperty(copy, name, { value: shown, enumerable: true, configurable: true, writable: true });
  }
  if (!copy) return value;
  // Providers sign the thoughts of their models and refuse them when a word has changed; without a signature they are left out.
  if (copy["type"] === "reasoning") delete copy["providerMetadata"];
  return copy;
}

/** Pictures, and what only a provider understands, in the parts of a message: nobody reads it, and it is of no use when it is changed. */
function isOpaque(value: Record<string, unknown>, key: string): boolean {
  if (key === "data") return value["type"] === "image" && typeof value["mediaType"] === "string";
  return key === "providerMetadata" && typeof value[key] === "object" && partTypes.has(value["type"]);
}

const partTypes: ReadonlySet<unknown> = new Set(["text", "reasoning", "tool-call", "opaque"]);
