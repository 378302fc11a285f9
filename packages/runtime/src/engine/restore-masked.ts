import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { Redactor } from "../util/redact.ts";

type Known = { readonly hidden: ReturnType<Redactor["hidden"]>; readonly redactor: Redactor };
/** `written` is the whole real input: it may hold the words of a mask by itself. */
type Hidden = Known & { readonly written: string };

/** The input of an answer with what its masks hide in the real input; a text when a mask may stand for more than one secret. */
export function restoreMasked(answered: JsonObject, real: unknown, known: Known): JsonObject | string {
  try {
    return restoreObject(answered, real, { ...known, written: JSON.stringify(real) });
  } catch (error) {
    if (error instanceof UnclearMask) return error.message;
    throw error;
  }
}

class UnclearMask extends Error {}

/** `real` is what stood at the same place of the call. */
function restore(answered: JsonValue, real: unknown, how: Hidden): JsonValue {
  if (typeof answered === "string") return restoreText(answered, real, how);
  if (Array.isArray(answered))
    return answered.map((item, index) => restore(item, Array.isArray(real) ? real[index] : undefined, how));
  return isJsonObject(answered) ? restoreObject(answered, real, how) : answered;
}

function restoreObject(answered: JsonObject, real: unknown, how: Hidden): JsonObject {
  const before = isJsonObject(real) ? real : {};
  const entries = Object.entries(answered).map(([key, item]): [string, JsonValue] => {
    const name = restoreText(key, undefined, how);
    return [name, restore(item, Object.hasOwn(before, name) ? before[name] : undefined, how)];
  });
  return Object.fromEntries(entries);
}

function restoreText(answered: string, real: unknown, { hidden, redactor, written }: Hidden): string {
  if (!mask.test(answered)) return answered;
  if (typeof real === "string" && (answered === real || answered === redactor.text(real))) return real;
  const put = (text: string): string =>
    text.replace(masks, (found) => {
      const meant = hidden.get(found);
      if (!meant) return found; // it stands for nothing in this call: a text like any other
      const [only, ...others] = meant;
      if (only === undefined || others.length > 0 || written.includes(found))
        throw new UnclearMask(`the input of the answer holds ${found}, which stands for more than one text of the call`);
      return only;
    });
  return put(put(answered)); // a hidden text may hold a mask by itself
}

const mask = /\[redacted(?::[\w.-]+)?\]/;
const masks = new RegExp(mask, "g");
