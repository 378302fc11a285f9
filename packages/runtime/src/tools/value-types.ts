import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { isTooDeep } from "../util/too-deep.ts";

/** The value in another type, if it says the same there; undefined where it does not, or has that type already. */
export function toType(value: JsonValue, type: string): JsonValue | undefined {
  if (typeof value === "string") return fromText(value, type);
  if (type === "boolean" && (value === 0 || value === 1)) return value === 1;
  const isPlain = typeof value === "number" || typeof value === "boolean";
  return type === "string" && isPlain ? String(value) : undefined;
}

export function fromText(text: string, type: string): JsonValue | undefined {
  const trimmed = text.trim();
  switch (type) {
    case "integer":
      return /^-?\d{1,15}(\.0{1,15})?$/.test(trimmed) ? Number(trimmed) : undefined;
    case "number":
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(trimmed) ? Number(trimmed) : undefined;
    case "boolean":
      return /^(true|false|yes|no|[01])$/i.test(trimmed) ? /^(true|yes|1)$/i.test(trimmed) : undefined;
    case "array":
      return parsed(trimmed, Array.isArray);
    case "object":
      return parsed(trimmed, isJsonObject);
    default:
      return undefined;
  }
}

/** What a text that begins as JSON does holds, if it is of the kind that is looked for and not nested too deeply. */
export function parsed(text: string, fits: (value: JsonValue) => boolean): JsonValue | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonValue; // whatever JSON holds is one
    return fits(value) && !isTooDeep(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON that was written as a JSON text once more. */
export function unquoted(text: string): string {
  if (!/^"\s*[[{]/.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The one text of a list where a text is wanted, and a list of one where a list is; undefined where the kinds agree. */
export function ofOne(value: JsonValue, { type, items }: JsonObject): JsonValue | undefined {
  if (type === "string" && Array.isArray(value) && value.length === 1 && typeof value[0] === "string") return value[0];
  if (type !== "array" || Array.isArray(value) || !isJsonObject(items)) return undefined;
  if (typeof value === "string") return items["type"] === "string" && value.trim() !== "" ? [value] : undefined;
  return items["type"] === "object" && isJsonObject(value) ? [value] : undefined;
}
