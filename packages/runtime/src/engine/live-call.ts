import {
  type AssistantMessage,
  callsOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ToolCallPart,
} from "../protocol/content.ts";
import type { LiveInput } from "../permissions/gate.ts";
import type { NotMasked } from "../util/masked.ts";
import type { Redactor } from "../util/redact.ts";

declare const live: unique symbol;

/**
 * A call with what it really says, secrets included: as the model made it, or as a hook or a host changed it. Only such a call is
 * judged, put to hosts and hooks, and run. What is on record is none, so a mask can never be run in the place of what it hides.
 */
export type LiveCall = ToolCallPart & { readonly [live]: true };

/** The calls of an answer that has just come. One that is taken from the conversation has been masked, and is refused by its type. */
export function liveCallsOf(message: NotMasked<AssistantMessage>): LiveCall[] {
  return callsOf(message) as LiveCall[]; // one of the two places where they are made
}

/** What hosts and hooks are shown of a call. Inputs come from JSON, and a checked one is an object. */
export function liveInputOf({ input }: LiveCall): LiveInput {
  return (isJsonObject(input) ? input : {}) as LiveInput; // it is that of a live call
}

/**
 * The same call with the input of an answer. Whoever has seen the call elsewhere, in the record or on stdout, may answer with masks:
 * they give way to what they hide. A text when nobody can say what that is.
 */
export function changeInput(call: LiveCall, answered: JsonObject, redactor: Redactor): LiveCall | string {
  const hidden = redactor.hidden(call.input);
  if (hidden.size === 0) return { ...call, input: answered };
  try {
    return { ...call, input: restore(answered, call.input, { hidden, redactor }) };
  } catch (error) {
    if (error instanceof UnclearMask) return error.message;
    throw error;
  }
}

type Hidden = { readonly hidden: ReturnType<Redactor["hidden"]>; readonly redactor: Redactor };

class UnclearMask extends Error {}

/** `real` is what stood at the same place of the call. */
function restore(answered: JsonValue, real: unknown, how: Hidden): JsonValue {
  if (typeof answered === "string") return restoreText(answered, real, how);
  if (Array.isArray(answered))
    return answered.map((item, index) => restore(item, Array.isArray(real) ? real[index] : undefined, how));
  if (!isJsonObject(answered)) return answered;
  const before = isJsonObject(real) ? real : {};
  const entries = Object.entries(answered).map(([key, item]): [string, JsonValue] => {
    const name = restoreText(key, undefined, how);
    return [name, restore(item, Object.hasOwn(before, name) ? before[name] : undefined, how)];
  });
  return Object.fromEntries(entries);
}

function restoreText(answered: string, real: unknown, { hidden, redactor }: Hidden): string {
  if (!mask.test(answered)) return answered;
  if (typeof real === "string" && (answered === real || answered === redactor.text(real))) return real;
  const put = (text: string): string =>
    text.replace(masks, (found) => {
      const meant = hidden.get(found);
      if (!meant) return found; // it stands for nothing in this call: a text like any other
      const [only, ...others] = meant;
      if (only === undefined || others.length > 0)
        throw new UnclearMask(`the input of the answer holds ${found}, which stands for more than one secret of the call`);
      return only;
    });
  return put(put(answered)); // a hidden text may hold a mask by itself
}

const mask = /\[redacted(?::[\w.-]+)?\]/;
const masks = new RegExp(mask, "g");
