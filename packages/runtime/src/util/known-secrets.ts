import { leastHexBytes } from "./hex-secrets.ts";
import { isOrdinary, isSecretName, isSecretValue } from "./secret-names.ts";
import { isPiece, SecretPieces } from "./secret-pieces.ts";
import { createSecretShapes, lettersAndDigits, type SecretShape } from "./secret-shapes.ts";
import { anyOf, type FindKnown, findAnyOf, once } from "./secret-texts.ts";
import { isSecretVariable, passwordsIn } from "./secret-variables.ts";

export type SecretSources = {
  /** Values of variables that are secret by their name or by what stands in them are hidden wherever they show up. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Further secrets, from settings for instance: hidden if they have at least six characters, whatever they look like. */
  readonly secrets?: readonly string[];
};

/** What is looked for, made ready once. */
export type KnownSecrets = {
  readonly exact: FindKnown;
  /** The same values, to be found among hexadecimal digits. */
  readonly bytes: FindKnown;
  readonly nameOf: ReadonlyMap<string, string>;
  /** Parts of the same values, for where a text is cut into lines. */
  readonly pieces: SecretPieces;
  /** Parts of private keys that were met. */
  readonly met: SecretPieces;
  readonly triggers: RegExp;
  readonly shapesOf: (literal: string) => readonly SecretShape[];
  /** Values too long for all their beginnings to be listed. */
  readonly long: readonly { readonly head: string; readonly value: string }[];
  /** A text that is shorter holds no secret. */
  readonly shortest: number;
  /** Proper beginnings of literals, and of known values up to `headLength`, that end with these two characters or are this one. */
  readonly beginnings: (ending: string) => readonly Beginning[];
};
export type Beginning = { readonly text: string; readonly notAfter: RegExp | undefined };

export function prepareSecrets({ env = {}, secrets = [] }: SecretSources): KnownSecrets {
  const nameOf = new Map<string, string>();
  const streamed = new Set<string>();
  const byBytes = new Map<string, string>();
  const pieces = new SecretPieces();
  const addForm = (form: string, name: string): void => {
    if (!nameOf.has(form)) nameOf.set(form, name);
  };
  const add = (secret: string, name: string): void => {
    const bytes = Buffer.from(secret);
    const latin = bytes.toString("latin1");
    const isLong = bytes.length >= leastHexBytes;
    if (isLong && !byBytes.has(latin)) byBytes.set(latin, name);
    const encoded = isLong ? inBase64(bytes) : [];
    for (const form of [secret, ...inAddresses(secret), ...encoded]) addForm(form, name);
    for (const form of [...keyForms(secret), secret, reversed(secret), ...encoded]) pieces.add(form, name);
    for (const part of [secret, ...partsOf(secret)]) {
      if (isLong) addForm(reversed(part), name);
      for (const form of [part, inJson(part)]) {
        streamed.add(form);
        addForm(form, name);
      }
    }
  };
  for (const [name, given] of Object.entries(env)) {
    const value = given?.trim() ?? "";
    if (!isSecretVariable(name, value, (text) => keysIn(text).length > 0)) continue;
    for (const secret of [value, ...passwordsIn(value), ...keysIn(value).filter(isSecretValue)]) add(secret, `redacted:${name}`);
  }
  for (const secret of secrets) if (secret.trim().length >= 6) add(secret.trim(), "redacted");
  const { shapes, triggers, shapesOf } = knownShapes();
  const long = [...streamed].filter((value) => value.length > headLength);
  return {
    exact: findAnyOf(nameOf),
    bytes: findAnyOf(byBytes),
    nameOf,
    pieces,
    met: new SecretPieces(),
    triggers,
    shapesOf,
    long: long.map((value) => ({ head: value.slice(0, headLength), value })),
    shortest: Math.min(shortestShape, ...[...nameOf.keys()].map((form) => form.length)),
    beginnings: beginningsOf([...streamed], shapes),
  };
}

/** No shape fits into less; `://:secret@` just does. */
const shortestShape = 11;

type KnownShapes = Pick<KnownSecrets, "triggers" | "shapesOf"> & { readonly shapes: readonly SecretShape[] };

let shapesOnce: KnownShapes | undefined;

/** What in a text has the shape of a secret. */
export function keysIn(text: string): readonly string[] {
  if (text.length < shortestShape) return [];
  const { triggers, shapesOf } = knownShapes();
  const found: string[] = [];
  triggers.lastIndex = 0;
  for (let hit = triggers.exec(text); hit; hit = triggers.exec(text)) {
    const { index } = hit;
    const shapes = shapesOf(hit[0]).filter((shape) => startsSecret(text, index, shape));
    const key = shapes.map((shape) => shape.find(text, index)).find((one) => one?.kind !== undefined);
    if (key) found.push(text.slice(key.start, key.end));
    triggers.lastIndex = key?.end ?? index + 1;
  }
  return found;
}

/** The same for everyone, and half of the work of getting ready. */
function knownShapes(): KnownShapes {
  shapesOnce ??= prepareShapes();
  return shapesOnce;
}

function prepareShapes(): KnownShapes {
  const shapes = createSecretShapes();
  const literals = [...new Set(shapes.flatMap((shape) => shape.literals))];
  // A literal also stands for the shorter ones it begins with: what is no `sk-ant-` key may still be an `sk-` key.
  const shapesOf = once((literal: string) => shapes.filter((shape) => shape.literals.some((other) => literal.startsWith(other))));
  return { shapes, triggers: anyOf(literals), shapesOf };
}

/** In base64 a value may stand behind none, one or two bytes of a group of three; so many characters also hold bits of those. */
const base64Places = [
  ["", 0],
  ["\0", 2],
  ["\0\0", 3],
] as const;

function inBase64(bytes: Buffer): string[] {
  return base64Places.flatMap(([before, mixed]) => {
    const encoded = Buffer.concat([Buffer.from(before), bytes]).toString("base64");
    const whole = encoded.slice(mixed);
    const core = whole.replace(/.={1,2}$/, ""); // the last character also holds bits of what follows, if anything does
    return [...new Set([whole, whole.replace(/=+$/, ""), core])].flatMap((form) => [
      form,
      form.replaceAll("+", "-").replaceAll("/", "_"),
    ]);
  });
}

const named = /(?<![\w.-])([\w.-]{2,64})["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([^\s"',;}]{8,})/g;
const leastLine = 12;
const maxParts = 64;

/** What of a value gives something away by itself: its lines, but for those that are found as pieces, and what stands in it behind the name of a secret. */
function partsOf(value: string): readonly string[] {
  const behindNames = [...value.matchAll(named)].flatMap(([, name = "", text = ""]) =>
    isSecretName(name) && !isOrdinary(name, text) ? [text] : [],
  );
  const lines = value.split("\n").map((line) => line.trim());
  const whole = lines.filter((line) => line.length >= leastLine && !/[:=]\s*\S|[{}[\]]|^-----/.test(line) && !isPiece(line));
  return [...behindNames, ...whole].filter(isSecretValue).slice(0, maxParts);
}

/** The lines of a private key as the one text they are, without what was put before them; and the same with each line backwards. */
export function keyForms(text: string): readonly string[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const lines = [...text.matchAll(endOfLine)].map(([, end = ""]) => end);
  return [lines.join(""), lines.map(reversed).join("")];
}

/** Each line backwards, as `rev` prints it. */
function reversed(text: string): string {
  return text
    .split("\n")
    .map((line) => [...line].reverse().join(""))
    .join("\n");
}

/** As in an address, and as in a form, where a plus sign stands for a space. */
function inAddresses(secret: string): readonly string[] {
  const encoded = encodeURIComponent(toWellFormed(secret));
  return [encoded, encoded.replaceAll("%20", "+"), secret.replaceAll(" ", "+")];
}

const endOfLine = /(?:(?<=\\[nr])|(?<![A-Za-z0-9+/\\]))([A-Za-z0-9+/]{4,}={0,2})[ \t]*(?:\r?\n|(?:\\r)?\\n|$)/g;

function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1);
}

/** `String.prototype.toWellFormed` came with Node 20 but not with our language target. */
function toWellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** `\n` and `\u003d` in JSON or code, `%20` in an address, and a colour of a terminal. */
const escapeBefore = /(?:\\(?:[nrtbf]|u[0-9A-Fa-f]{4})|%[0-9A-Fa-f]{2}|\[[\d;]{1,12}m)$/;
const longestEscape = 14;

/** What follows an escape is a beginning too. Since words do not overlap, none is looked at twice. */
export function startsWord(text: string, at: number, notAfter: RegExp | undefined): boolean {
  const before = text[at - 1];
  if (notAfter === undefined || before === undefined) return true;
  return !notAfter.test(before) || escapeBefore.test(text.slice(Math.max(0, at - longestEscape), at));
}

/** May a secret of this shape begin here? */
export function startsSecret(text: string, at: number, shape: SecretShape): boolean {
  return startsWord(text, at, shape.notAfter) || shape.isCertain?.(text, at) === true;
}

/** Of a known value, all beginnings up to this length are listed; from there on the first of them tells. */
const headLength = 40;

/** So little of a known value is held back only where a word begins: else every other delta would be cut. */
export const shortBeginning: number = 3;

/** Found when an ending is first met: nearly every text ends with none of them, and few endings are ever met. */
function beginningsOf(values: readonly string[], shapes: readonly SecretShape[]): KnownSecrets["beginnings"] {
  const sources: readonly BeginningSource[] = [
    ...values.map((text) => ({ text, notAfter: (length: number) => (length > shortBeginning ? undefined : lettersAndDigits) })),
    ...shapes.flatMap(({ literals, notAfter, isCertain }) =>
      literals.map((text) => ({
        text,
        notAfter: (length: number) => (isCertain && length > shortBeginning ? undefined : notAfter),
      })),
    ),
  ];
  const heads = sources.map(({ text }) => text.slice(0, headLength)).join("");
  const characters = new Set(heads.split(""));
  const endingIn = once((ending: string) => sources.flatMap((source) => endingWith(source, ending)));
  return (ending) => {
    for (let at = 0; at < ending.length; at++) if (!characters.has(ending.charAt(at))) return []; // so what is kept has an end
    return endingIn(ending);
  };
}

type BeginningSource = { readonly text: string; readonly notAfter: (length: number) => RegExp | undefined };

function endingWith({ text, notAfter }: BeginningSource, ending: string): Beginning[] {
  const found: Beginning[] = [];
  const longest = Math.min(text.length - 1, headLength);
  for (let at = text.indexOf(ending); at !== -1; at = text.indexOf(ending, at + 1)) {
    const length = at + ending.length;
    if (length > longest || (ending.length === 1 && at > 0)) break;
    found.push({ text: text.slice(0, length), notAfter: notAfter(length) });
  }
  return found;
}
