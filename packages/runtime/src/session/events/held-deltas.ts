import type { EventBody } from "../../protocol/events.ts";
import type { Masked } from "../../util/masked.ts";
import type { Redactor } from "../../util/redact.ts";

/** So many characters that were handed out tell whether a word goes on. */
const contextLength = 3;

type Delta = EventBody<"text.delta" | "reasoning.delta" | "tool-input.delta">;

/**
 * Hides secrets in a text that comes in pieces. The end of a piece that may be the beginning of a secret is held back until it is
 * clear what it is, so the pieces add up to the text that is stored at the end. Nearly every piece goes through at once.
 */
export class HeldDeltas {
  readonly #redactor: Redactor;
  /** The delta whose end is held back, and the last characters that were handed out before it. */
  #last: Delta | undefined;
  #held = "";
  #before = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What of this delta may be seen now; undefined when all of it is held back. Another text's delta must be preceded by `release`. */
  pass(delta: Delta): Masked<Delta> | undefined {
    const piece = textOf(delta);
    if (this.#held === "" && this.#redactor.isPlain(this.#before, piece)) {
      this.#last = delta;
      this.#before = piece.length >= contextLength ? piece : (this.#before + piece).slice(-contextLength);
      return delta as Masked<Delta>; // there is nothing to hide in it
    }
    const text = this.#held + piece;
    const keep = this.#redactor.unsettled(this.#before.slice(-contextLength) + text);
    const held = Math.min(keep, text.length);
    const ready = text.slice(0, text.length - held);
    this.#last = delta;
    this.#held = held > 0 ? text.slice(-held) : "";
    const shown = this.#show(ready);
    if (shown === "") return undefined;
    return withText(delta, shown);
  }

  /** Does a held text go on in this event? */
  continuedBy(body: EventBody): boolean {
    const last = this.#last;
    if (last?.type !== body.type) return false;
    return body.type !== "tool-input.delta" || last.type !== body.type || last.callId === body.callId;
  }

  /** The end that was held back, now that nothing more comes. */
  release(): Masked<Delta> | undefined {
    const last = this.#last;
    const shown = this.#show(this.#held);
    this.#last = undefined;
    this.#held = "";
    this.#before = "";
    return last && shown !== "" ? withText(last, shown) : undefined;
  }

  #show(text: string): Masked<string> {
    const before = this.#before.slice(-contextLength);
    if (text !== "") this.#before = (before + text).slice(-contextLength);
    return this.#redactor.textFrom(before + text, before.length);
  }
}

export function isDelta(body: EventBody): body is Delta {
  return body.type === "text.delta" || body.type === "reasoning.delta" || body.type === "tool-input.delta";
}

function textOf(delta: Delta): string {
  return delta.type === "tool-input.delta" ? delta.json : delta.text;
}

function withText(delta: Delta, text: Masked<string>): Masked<Delta> {
  if (textOf(delta) === text) return delta as Masked<Delta>; // no copy where nothing was hidden
  const shown: Delta = delta.type === "tool-input.delta" ? { ...delta, json: text } : { ...delta, text };
  return shown as Masked<Delta>; // the rest are names and ids
}
