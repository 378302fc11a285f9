import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { Masked } from "../util/masked.ts";
import type { Redactor } from "../util/redact.ts";

/**
 * How a turn went, for stdout and reports. Words are masked like all that is shown. A structured answer is data somebody asked for by a
 * schema: what only looks like a secret stays as it is in there, and the secrets of this machine are masked. `masked` says where.
 */
export function toShownOutcome(outcome: Outcome, redactor: Redactor): Masked<Outcome> {
  if (outcome.type !== "completed" || outcome.structured === undefined) {
    const shown = redactor.value(outcome);
    const at = outcome.type === "completed" ? "result" : "last_assistant_text";
    return withPlaces(shown, placesIn({ [at]: outcome.text }, { [at]: shown.text }, ""));
  }
  const structured = redactor.known(outcome.structured);
  if (structured === outcome.structured) return outcome as Masked<Outcome>; // its text says the same
  const shown: Outcome = { ...outcome, text: JSON.stringify(structured), structured };
  return withPlaces(shown as Masked<Outcome>, placesIn(outcome.structured, structured, "structured_output"));
}

function withPlaces(outcome: Masked<Outcome>, masked: readonly string[]): Masked<Outcome> {
  return masked.length === 0 ? outcome : { ...outcome, masked };
}

/** One sentence for each text that was changed, and no end of them is told. */
function placesIn(before: JsonValue, after: JsonValue, path: string): string[] {
  const places = [...differences(before, after, path)];
  const told = places.slice(0, maxTold).map(([at, mask]) => `A secret in ${at} is masked: ${mask}`);
  return places.length > maxTold ? [...told, `Secrets in ${places.length - maxTold} more places are masked`] : told;
}

const maxTold = 20;

function* differences(before: JsonValue, after: JsonValue, path: string): Generator<[at: string, mask: string]> {
  if (before === after) return;
  if (typeof after === "string") return yield [path, [...new Set(after.match(/\[redacted(?::[\w.-]+)?\]/g))].join(", ")];
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [index, item] of after.entries()) yield* differences(before[index] ?? null, item, `${path}[${index}]`);
  } else if (isJsonObject(before) && isJsonObject(after)) {
    for (const [name, item] of Object.entries(after)) {
      if (Object.hasOwn(before, name)) yield* differences(before[name] ?? null, item, path === "" ? name : `${path}.${name}`);
      else yield [`a name in ${path}`, name];
    }
  }
}
