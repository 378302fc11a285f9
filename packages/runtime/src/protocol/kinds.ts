import { isRecord } from "../util/is-record.ts";
import { nearest } from "../util/nearest.ts";
import { RuntimeError } from "./errors.ts";

/** What is wrong with a value: the part of it, what that should be, and what it is. */
export type Wrong = {
  readonly at: string;
  readonly wanted: string;
  readonly value: unknown;
  readonly isSecret?: boolean;
  /** There is no such field; what it may have been meant to be, if anything is near. */
  readonly unknown?: { readonly near: string | undefined };
};

/** Says what is wrong with a value of an option; undefined where it is one the option takes. */
export type Kind = (value: unknown) => Wrong | undefined;

/** The options of something by name. `undefined` is always the same as absent. */
export type Kinds = Readonly<Record<string, Kind>>;

/** `wanted` are the words that follow "must be". */
export function kind(wanted: string, fits: (value: unknown) => boolean): Kind {
  return (value) => unless(fits(value), wanted, value);
}

// Functions and no results of `kind`, so that a bundle holds the ones it uses.
export const anyText: Kind = (value) => unless(typeof value === "string", "a text", value);
export const text: Kind = (value) =>
  unless(typeof value === "string" && value.trim() !== "", "a text that is not empty", value) ??
  unless(!String(value).includes("\0"), "a text without NUL characters", value); // the system takes none as a name or a path
export const flag: Kind = (value) => unless(typeof value === "boolean", "true or false", value);
export const count: Kind = (value) => unless(Number.isSafeInteger(value) && Number(value) > 0, "a whole number above 0", value);
export const place: Kind = (value) =>
  unless(Number.isSafeInteger(value) && Number(value) >= 0, "a whole number, 0 or more", value);
export const amount: Kind = (value) => unless(Number.isFinite(value) && Number(value) > 0, "a number above 0", value);
export const action: Kind = (value) => unless(typeof value === "function", "a function", value);
export const fields: Kind = (value) => unless(isRecord(value), "an object", value);
export const abortSignal: Kind = (value) => unless(value instanceof AbortSignal, "an AbortSignal", value);

/** What is in it must not be shown: it may be right for another option. */
export const secretText: Kind = (value) => {
  const wrong = anyText(value);
  return wrong && { ...wrong, isSecret: true };
};

export function oneOf(words: readonly string[]): Kind {
  return (value) => {
    if (typeof value === "string" && words.includes(value)) return undefined;
    const near = typeof value === "string" ? nearest(value, words) : undefined;
    return { at: "", wanted: `one of ${words.join(", ")}${near === undefined ? "" : ` (did you mean ${near}?)`}`, value };
  };
}

/** An object with these methods. */
export function having(methods: readonly string[], wanted: string): Kind {
  const isObject = (value: unknown): boolean => typeof value === "function" || (typeof value === "object" && value !== null);
  return kind(wanted, (value) => isObject(value) && methods.every((name) => typeof Object(value)[name] === "function"));
}

export function either(wanted: string, ...kinds: readonly Kind[]): Kind {
  return kind(wanted, (value) => kinds.some((one) => !one(value)));
}

export function listOf(item: Kind, wanted: string): Kind {
  return (value) => {
    if (!Array.isArray(value)) return { at: "", wanted, value };
    return firstWrong(
      value.entries(),
      () => item,
      (index) => `[${index}]`,
    );
  };
}

export function recordOf(item: Kind, wanted: string): Kind {
  return (value) => {
    if (!isRecord(value)) return { at: "", wanted, value };
    return firstWrong(Object.entries(value), () => item, dotted);
  };
}

/** An object with these fields and no others; the compiler holds the list to be complete. */
export function exactly<T extends object>(kinds: Readonly<Record<keyof T & string, Kind>>, wanted: string): Kind {
  return (value) => (isRecord(value) ? (unknownIn(value, kinds) ?? wrongIn(value, kinds)) : { at: "", wanted, value });
}

/** An object with these fields; others are left alone: it is somebody else's, such as a tool. */
export function shape(kinds: Kinds, wanted: string): Kind {
  return (value) => (isRecord(value) ? wrongIn(value, kinds) : { at: "", wanted, value });
}

/** The same where a field may not be absent. */
export function needed(one: Kind): Kind {
  return Object.assign((value: unknown) => one(value), { isNeeded: true });
}

/** Throws a `usage` error for a value that the option does not take. */
export function checkValue(name: string, value: unknown, one: Kind): void {
  const wrong = one(value);
  if (wrong) throw refusal(name, wrong);
}

/** The same for all options of `owner`, and for names that it has no option of. */
export function checkOptions(owner: string, given: unknown, kinds: Kinds): asserts given is Record<string, unknown> {
  if (!isRecord(given)) throw refusal(owner, { at: "", wanted: "given an object", value: given });
  const wrong = unknownIn(given, kinds) ?? wrongIn(given, kinds);
  if (wrong) throw refusal("", wrong);
}

function unless(isRight: boolean, wanted: string, value: unknown): Wrong | undefined {
  return isRight ? undefined : { at: "", wanted, value };
}

function unknownIn(given: Record<string, unknown>, kinds: Kinds): Wrong | undefined {
  const name = Object.keys(given).find((one) => !Object.hasOwn(kinds, one) && given[one] !== undefined);
  if (name === undefined) return undefined;
  return { at: dotted(name), wanted: "absent", value: given[name], unknown: { near: nearest(name, Object.keys(kinds)) } };
}

function wrongIn(given: Record<string, unknown>, kinds: Kinds): Wrong | undefined {
  const named = Object.keys(kinds).filter((name) => given[name] !== undefined || "isNeeded" in (kinds[name] ?? {}));
  return firstWrong(
    named.map((name) => [name, given[name]] as const),
    (name) => kinds[name],
    dotted,
  );
}

function firstWrong<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  kindOf: (key: Key) => Kind | undefined,
  toPlace: (key: Key) => string,
): Wrong | undefined {
  for (const [key, value] of entries) {
    const wrong = kindOf(key)?.(value);
    if (wrong) return { ...wrong, at: toPlace(key) + wrong.at };
  }
  return undefined;
}

function dotted(name: string): string {
  return `.${name}`;
}

function refusal(name: string, { at, wanted, value, isSecret, unknown }: Wrong): RuntimeError {
  const where = name === "" ? at.replace(/^\./, "") : `${name}${at}`;
  if (unknown) {
    const guess = unknown.near === undefined ? "" : `; did you mean ${unknown.near}?`;
    return new RuntimeError("usage", `There is no option ${where}${guess}`);
  }
  return new RuntimeError("usage", `${where} must be ${wanted}, not ${isSecret ? typeName(value) : shown(value)}`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  return typeof value === "object" && value !== null
    ? typeName(value)
    : typeof value === "function"
      ? "a function"
      : String(value);
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? (value === null ? "null" : "an object") : `a ${typeof value}`;
}
