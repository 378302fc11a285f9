/**
 * Where workers keep what another worker needs to go on with a run. Keys are like paths: parts of letters, digits and `._-~%`, with `/` between
 * them. An object is there as a whole or not at all, and whoever reads after a `put` has resolved sees it.
 */
export interface ObjectStore {
  /** For messages: what it is and where, without secrets. */
  readonly place: string;
  /** Undefined where there is none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Takes the place of an object of this key. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  has(key: string): Promise<boolean>;
  /** The keys that begin like this, sorted. */
  list(prefix: string): Promise<string[]>;
  /** Nothing happens where there is none. */
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}

/** A store that cannot be reached, refuses or answers nonsense. */
export class StoreFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreFailed";
  }
}

export function checkKey(key: string): string {
  const parts = key.split("/");
  if (key.length <= 900 && parts.every((part) => /^[\w.~%-]{1,200}$/.test(part) && part !== "." && part !== "..")) return key;
  throw new StoreFailed(`Not a key of an object: ${JSON.stringify(key.slice(0, 200))}`);
}

/** Any text as one part of a key; the same text is always the same part, and two texts never share one. */
export function toKeyPart(text: string): string {
  const plain = encodeURIComponent(text).replace(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  if (plain === "." || plain === "..") return plain.replaceAll(".", "%2E");
  if (plain.length > 200) throw new StoreFailed(`Too long for a key: ${JSON.stringify(text.slice(0, 80))}…`);
  return plain;
}
