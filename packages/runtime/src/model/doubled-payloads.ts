import type { Payload } from "./framing.ts";

/** A first payload that already holds words may be said twice by a model; one that only opens the answer may not. */
const hasWords = /"(?:content|text|thinking|delta|reasoning(?:_content)?|arguments)": ?"[^"]/;

/** Some gateways send each payload twice. They give themselves away at once, by an answer that is opened twice. */
export class DoubledPayloads {
  #before: string | undefined;
  #isDoubled: boolean | undefined;

  /** Whether this is what was just sent, once more. */
  isRepeated({ data }: Payload): boolean {
    if (this.#isDoubled === false) return false;
    const isSame = data === this.#before;
    if (this.#isDoubled === undefined && this.#before !== undefined) this.#isDoubled = isSame && !hasWords.test(data);
    // A pair is done with its second half: what comes next may be the same by right.
    this.#before = isSame ? undefined : data;
    return isSame && this.#isDoubled === true;
  }
}
