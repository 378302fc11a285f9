import { isJsonObject, type JsonValue } from "../../protocol/content.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Masked } from "../../util/masked.ts";
import type { Redactor } from "../../util/redact.ts";

/**
 * How a turn went, for stdout and reports. Words are masked like all that is shown. A structured answer is data somebody asked for by a
 * schema: what only looks like a secret stays as it is in there, and the secrets of this machine are masked. `masked` says where.
 */
export function toShownOutcome(outcome: Outcome, redactor: Redactor): Masked<Outcome> {
  if (outcome.type !== "completed" || outcome.structured === undefined) {
    const shown = redactor.value(outcome);
    const at = outcome.type === "completed" ? "result" : "last_assistant_text";
    return withPlaces(shown, placesIn({ [at]: outcome.text }, { [at]: shown.text }, { path: "", redactor }));
  }
  const structured = redactor.known(outcome.structured);
  const shown: Outcome =
    structured === outcome.structured ? outcome : { ...outcome, text: JSON.stringify(structured), structured };
  const places = placesIn(outcome.structured, structured, { path: "structured_output", redactor });
  return withPlaces(shown as Masked<Outcome>, places); // its text says the same
}

function withPlaces(outcome: Masked<Outcome>, masked: readonly string[]): Masked<Outcome> {
  return masked.length === 0 ? outcome : { ...outcome, masked };
}

type From = { readonly path: string; readonly redactor: Redactor };

/** One sentence for each text in which a mask stands for a secret, put there now or by a model that saw no more; and no end of them is told. */
function placesIn(before: JsonValue, after: JsonValue, from: From): string[] {
  const places = [...masksIn(before, after, from)];
  const told = places.slice(0, maxTold).map(([at, mask]) => `A secret in ${at} is masked: ${mask}`);
  return places.length > maxTold ? [...told, `Secrets in ${places.length - maxTold} more places are masked`] : told;
}

const maxTold = 20;

function* masksIn(before: JsonValue | undefined, after: JsonValue, from: From): Generator<[at: string, mask: string]> {
  const { path } = from;
  if (typeof after === "string") {
    const masks = meantMasks(before, after, from);
    if (masks !== "") yield [path, masks];
  } else if (Array.isArray(after)) {
    const list = Array.isArray(before) ? before : [];
    for (const [index, item] of after.entries()) yield* masksIn(list[index], item, { ...from, path: `${path}[${index}]` });
  } else if (isJsonObject(after)) {
    const object = isJsonObject(before) ? before : {};
    for (const [name, item] of Object.entries(after)) {
      const isKept = Object.hasOwn(object, name);
      const masks = meantMasks(isKept ? name : undefined, name, from);
      if (masks !== "") yield [`a name in ${path}`, name];
      yield* masksIn(isKept ? object[name] : undefined, item, { ...from, path: path === "" ? name : `${path}.${name}` });
    }
  }
}

/** A text that did not change may hold words that only look like a mask. */
function meantMasks(before: JsonValue | undefined, after: string, { redactor }: From): string {
  const masks = [...new Set(after.match(/\[redacted(?::[\w.-]+)?\]/g))];
  return masks.filter((mask) => before !== after || redactor.standsFor(mask)).join(", ");
}
