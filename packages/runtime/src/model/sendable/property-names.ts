import { isJsonObject, type JsonValue } from "../../protocol/content.ts";
import { shortChecksum } from "../../util/short-checksum.ts";

/** Anthropic refuses other names of properties. */
const allowed = /^[a-zA-Z0-9_.-]{1,64}$/;
const maxLength = 64;

/** The names one tool's properties have on the wire, and the way back to the names the tool knows. */
export class PropertyNames {
  readonly #toWire = new Map<string, string>();
  readonly #fromWire = new Map<string, string>();

  toWire(name: string): string {
    if (allowed.test(name)) return name;
    const known = this.#toWire.get(name);
    if (known !== undefined) return known;
    const mark = `_${shortChecksum(name)}`;
    const plain = name.replace(/[^a-zA-Z0-9_.-]/g, "_").slice(0, maxLength - mark.length);
    const wire = plain + mark;
    this.#toWire.set(name, wire);
    this.#fromWire.set(wire, name);
    return wire;
  }

  get areAllPlain(): boolean {
    return this.#toWire.size === 0;
  }

  /** A call's input as the model writes it. */
  inputToWire(input: unknown): unknown {
    return rename(input as JsonValue, this.#toWire); // input is JSON
  }

  /** A call's input as the tool reads it. */
  inputFromWire(input: unknown): unknown {
    return rename(input as JsonValue, this.#fromWire); // input is JSON
  }
}

/** At every depth: the names on the wire hold a checksum, so that nothing else is called like them. */
function rename(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((item) => rename(item, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [names.get(name) ?? name, rename(item, names)]));
}
