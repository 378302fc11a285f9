import { isSecretName, isSecretValue } from "./secret-names.ts";
import { createSecretShapes, lettersAndDigits, type SecretShape } from "./secret-shapes.ts";

export type RedactorOptions = {
  /** Values of variables with the name of a secret are hidden wherever they show up. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Further secrets, from settings for instance: hidden if they have at least six characters, whatever they look like. */
  readonly secrets?: readonly string[];
};

/**
 * Hides secrets: everything that is stored or printed goes through here. The same secret always looks the same afterwards,
 * `[redacted:GITHUB_TOKEN]` or `[redacted:anthropic-key]`, and what is hidden once is not changed again.
 */
export interface Redactor {
  text(text: string): string;
  /** Every string in a JSON value; the very same object when nothing in it is secret. Images and opaque payloads stay as they are. */
  value<T>(value: T): T;
  /** Is there surely nothing to hide or to hold back in the next piece of a text? Quick, and right for nearly every piece. */
  isPlain(before: string, piece: string): boolean;
  /** The part of `text` behind `from`; what stands before is context and was handed out already. */
  textFrom(text: string, from: number): string;
  /** How many characters at the end of a text that is still being written may be the beginning of a secret. */
  unsettled(text: string): number;
}

export function createRedactor(options: RedactorOptions = {}): Redactor {
  let prepared: Prepared | undefined;
  const get = (): Prepared => {
    prepared ??= prepare(options);
    return prepared;
  };
  const text = (given: string): string => redactFrom(get(), given, 0);
  return {
    text,
    value: <T>(value: T): T => redactValue(value, text, 0) as T, // strings stay strings, lists lists, and objects keep their properties
    isPlain: (before, piece) => isPlainPiece(get(), before, piece),
    textFrom: (given, from) => redactFrom(get(), given, from),
    unsettled: (given) => unsettledIn(get(), given),
  };
}

type Prepared = {
  readonly exact: RegExp | undefined;
  readonly nameOf: ReadonlyMap<string, string>;
  readonly triggers: RegExp;
  readonly shapesOf: (literal: string) => readonly SecretShape[];
  /** Values too long for all their beginnings to be listed. */
  readonly long: readonly { readonly head: string; readonly value: string }[];
  /** Every proper beginning of a literal, and of a known value up to `headLength`. */
  readonly beginnings: () => ReadonlyMap<string, readonly Beginning[]>;
};
type Beginning = { readonly text: string; readonly notAfter: RegExp | undefined };

function prepare({ env = {}, secrets = [] }: RedactorOptions): Prepared {
  const nameOf = new Map<string, string>();
  const streamed = new Set<string>();
  const add = (secret: string, name: string): void => {
    for (const form of [secret, inJson(secret)]) streamed.add(form);
    for (const form of formsOf(secret)) if (!nameOf.has(form)) nameOf.set(form, name);
  };
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isSecretName(name) && isSecretValue(value.trim())) add(value.trim(), `redacted:${name}`);
  }
  for (const secret of secrets) if (secret.trim().length >= 6) add(secret.trim(), "redacted");
  const shapes = createSecretShapes();
  const literals = [...new Set(shapes.flatMap((shape) => shape.literals))];
  const shapesOf = shapesByLiteral(shapes);
  let beginnings: ReadonlyMap<string, readonly Beginning[]> | undefined;
  const long = [...streamed].filter((value) => value.length > headLength);
  return {
    exact: nameOf.size > 0 ? anyOf([...nameOf.keys()]) : undefined,
    nameOf,
    triggers: anyOf(literals),
    shapesOf,
    long: long.map((value) => ({ head: value.slice(0, headLength), value })),
    beginnings: () => {
      beginnings ??= beginningsOf([...streamed], shapes);
      return beginnings;
    },
  };
}

/** As it is, and as it looks inside JSON, a URL, or base64, where it may start at any of three positions. */
function formsOf(secret: string): Set<string> {
  const forms = new Set([secret, inJson(secret), encodeURIComponent(toWellFormed(secret))]);
  const bytes = Buffer.from(secret);
  if (bytes.length < 8) return forms;
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    // The first and the last characters also hold bits of what stands before and after.
    const core = encoded.slice(shift === 0 ? 0 : shift + 1, Math.floor(((bytes.length + shift) * 8) / 6));
    forms.add(core).add(core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}

function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

/** `String.prototype.toWellFormed` came with Node 20 but not with our language target. */
function toWellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** A literal also stands for the shorter ones it begins with: what is no `sk-ant-` key may still be an `sk-` key. */
function shapesByLiteral(shapes: readonly SecretShape[]): (literal: string) => readonly SecretShape[] {
  const known = new Map<string, readonly SecretShape[]>();
  return (literal) => {
    const found = known.get(literal) ?? shapes.filter((shape) => shape.literals.some((other) => literal.startsWith(other)));
    known.set(literal, found);
    return found;
  };
}

/** The longest first: of two that begin alike the whole one counts. */
function anyOf(texts: readonly string[]): RegExp {
  const sorted = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(sorted.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
}

function redactFrom(known: Prepared, text: string, from: number): string {
  const plain = known.exact ? hideExact(known.exact, known.nameOf, { text, from }) : { text, from };
  return hideShapes(known, plain.text, plain.from);
}

/** The text with its known values hidden behind `from`. One that began a little before, unnoticed, is hidden from there on. */
function hideExact(exact: RegExp, nameOf: ReadonlyMap<string, string>, given: { text: string; from: number }): typeof given {
  const { text, from } = given;
  let shown = text.slice(0, from);
  let done = from;
  exact.lastIndex = Math.max(0, from - shortBeginning);
  for (let hit = exact.exec(text); hit; hit = exact.exec(text)) {
    if (exact.lastIndex <= from) continue;
    shown += `${text.slice(done, Math.max(done, hit.index))}[${nameOf.get(hit[0]) ?? "redacted"}]`;
    done = exact.lastIndex;
  }
  return done === from ? given : { text: shown + text.slice(done), from };
}

function hideShapes(known: Prepared, text: string, from: number): string {
  const { triggers, shapesOf } = known;
  let shown = "";
  let done = from;
  const quiet = new Map<SecretShape, number>();
  triggers.lastIndex = from;
  for (let hit = triggers.exec(text); hit; hit = triggers.exec(text)) {
    const { index } = hit;
    const isAfterHidden = index === done && done > from; // a bracket will stand before it
    let next = index + 1;
    for (const shape of shapesOf(hit[0])) {
      if (index < (quiet.get(shape) ?? 0) || !(isAfterHidden || startsWord(text, index, shape.notAfter))) continue;
      const found = shape.find(text, index);
      if (found?.kind === undefined) {
        if (found) quiet.set(shape, found.end);
        continue;
      }
      const kind = found.start === index ? found.kind : (keyAt(text, found.start, known) ?? found.kind);
      shown += `${text.slice(done, Math.max(done, found.start))}[redacted:${kind}]`;
      done = found.end;
      next = found.end;
      break;
    }
    triggers.lastIndex = next;
  }
  return shown + text.slice(done);
}

/** A key looks the same whatever word stands before it. */
function keyAt(text: string, at: number, { triggers, shapesOf }: Prepared): string | undefined {
  triggers.lastIndex = at;
  const hit = triggers.exec(text.slice(0, at + 32));
  if (hit?.index !== at) return undefined;
  for (const shape of shapesOf(hit[0])) {
    const found = shape.find(text, at);
    if (found?.kind !== undefined && found.start === at) return found.kind;
  }
  return undefined;
}

/** What follows `\n` in JSON or code is a beginning too. Since words do not overlap, none is looked at twice. */
function startsWord(text: string, at: number, notAfter: RegExp | undefined): boolean {
  const before = text[at - 1];
  if (notAfter === undefined || before === undefined) return true;
  return !notAfter.test(before) || (/[nrtbf]/.test(before) && text[at - 2] === "\\");
}

/** No event needs more; a value that goes deeper could not be written as JSON without running out of stack. */
const maxDepth = 500;

function redactValue(value: unknown, redact: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return "[nested too deeply to be kept]";
  if (!Array.isArray(value)) return redactObject(value as Record<string, unknown>, redact, depth); // neither null nor a list
  let list: unknown[] | undefined;
  for (const [index, item] of value.entries()) {
    const shown = redactValue(item, redact, depth + 1);
    if (shown === item) continue;
    list ??= [...value];
    list[index] = shown;
  }
  return list ?? value;
}

function redactObject(value: Record<string, unknown>, redact: (text: string) => string, depth: number): unknown {
  if (value["type"] === "image") return value;
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    if (!Object.hasOwn(value, key) || key === "providerMetadata") continue;
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

/** Longer than any secret but a private key; a text that goes on as one word for longer is handed out. */
const maxUnsettled = 16 * 1024;

function isPlainPiece({ triggers, exact, beginnings, long }: Prepared, before: string, piece: string): boolean {
  triggers.lastIndex = 0;
  if (triggers.test(piece) || openValueIn(long, piece) > 0) return false;
  if (endOf(beginnings(), piece, 0) > 0) return false; // a word that goes on from the piece before may be one in vain
  if (!exact) return true;
  exact.lastIndex = 0;
  return !exact.test(before.slice(-shortBeginning) + piece);
}

function unsettledIn(known: Prepared, text: string): number {
  let settled = 0;
  known.triggers.lastIndex = Math.max(0, text.length - maxUnsettled);
  for (let hit = known.triggers.exec(text); hit; hit = known.triggers.exec(text)) {
    const { index } = hit;
    const rest = text.slice(index + hit[0].length);
    const shapes = known.shapesOf(hit[0]).filter(({ notAfter }) => startsWord(text, index, notAfter));
    if (shapes.some(({ open }) => open.test(rest))) return text.length - index;
    for (const shape of shapes) {
      const found = shape.find(text, index);
      if (found?.kind !== undefined) settled = Math.max(settled, found.end);
    }
  }
  const length = Math.max(endOf(known.beginnings(), text, settled), openValueIn(known.long, text));
  return length > 0 && isInKnownValue(known.exact, text, text.length - length) ? 0 : length;
}

/** How much of the end of the text is the beginning of a long value. */
function openValueIn(long: Prepared["long"], text: string): number {
  for (const { head, value } of long) {
    const start = text.lastIndexOf(head);
    if (start !== -1 && text.length - start < value.length && value.startsWith(text.slice(start))) return text.length - start;
  }
  return 0;
}

/** How long the longest beginning is with which the text ends, if that is not before `from`. */
function endOf(beginnings: ReadonlyMap<string, readonly Beginning[]>, text: string, from: number): number {
  return Math.max(longest(beginnings.get(text.slice(-2)), text, from), longest(beginnings.get(text.slice(-1)), text, from));
}

function longest(beginnings: readonly Beginning[] | undefined, text: string, from: number): number {
  let length = 0;
  for (const { text: beginning, notAfter } of beginnings ?? []) {
    const start = text.length - beginning.length;
    if (beginning.length > length && start >= from && text.endsWith(beginning) && startsWord(text, start, notAfter))
      length = beginning.length;
  }
  return length;
}

function isInKnownValue(exact: RegExp | undefined, text: string, at: number): boolean {
  if (!exact) return false;
  exact.lastIndex = 0;
  for (let hit = exact.exec(text); hit && hit.index < at; hit = exact.exec(text)) {
    if (exact.lastIndex > at) return true;
  }
  return false;
}

/** Of a known value, all beginnings up to this length are listed; from there on the first of them tells. */
const headLength = 40;

/** So little of a known value is held back only where a word begins: else every other delta would be cut. */
const shortBeginning = 3;

/** By their last two characters, and those of one character by themselves: nearly every text ends with none of them. */
function beginningsOf(values: readonly string[], shapes: readonly SecretShape[]): Map<string, Beginning[]> {
  const map = new Map<string, Beginning[]>();
  const add = (text: string, notAfter: (length: number) => RegExp | undefined): void => {
    for (let length = Math.min(text.length - 1, headLength); length > 0; length--) {
      const beginning = { text: text.slice(0, length), notAfter: notAfter(length) };
      const ending = beginning.text.slice(-2);
      const list = map.get(ending);
      if (!list) map.set(ending, [beginning]);
      else if (!list.some((other) => other.text === beginning.text && other.notAfter === beginning.notAfter))
        list.push(beginning);
    }
  };
  for (const value of values) add(value, (length) => (length > shortBeginning ? undefined : lettersAndDigits));
  for (const { literals, notAfter } of shapes) for (const literal of literals) add(literal, () => notAfter);
  return map;
}
