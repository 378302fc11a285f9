import type { Outcome } from "../../protocol/outcome.ts";
import type { SchemaSource } from "../../tools/standard-schema.ts";
import type { Masked } from "../../util/masked.ts";
import type { Redactor } from "../../util/redact.ts";
import { toShownOutcome } from "./shown-outcome.ts";

/** A library's schema may make other types of what the model said. That is for the program; what is shown and stored stays JSON. */
export class StructuredOutcomes {
  readonly #schema: () => SchemaSource | undefined;
  readonly #said = new WeakMap<Outcome<unknown>, Outcome>();

  constructor(schema: () => SchemaSource | undefined) {
    this.#schema = schema;
  }

  /** For the program. */
  async of<Structured>(outcome: Outcome): Promise<Outcome<Structured>> {
    const schema = this.#schema();
    if (!schema || outcome.type !== "completed" || outcome.structured === undefined) return outcome as Outcome<Structured>;
    const { toStructured } = await import("../../tools/library-schema.ts");
    const made = { ...outcome, structured: (await toStructured(schema, outcome.structured)) as Structured };
    this.#said.set(made, outcome);
    return made;
  }

  /** For others to read. */
  shown(outcome: Outcome<unknown>, redactor: Redactor): Masked<Outcome> {
    return toShownOutcome(this.#said.get(outcome) ?? (outcome as Outcome), redactor); // anything else is as the model said it
  }
}
