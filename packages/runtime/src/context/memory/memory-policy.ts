import { createRedactor, type Redactor } from "../../util/redact.ts";

export type MemoryVerdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** Keeps secrets out of memory: what the session's own redactor hides, words for secrets with a value, card and social security numbers. */
export class MemoryPolicyEvaluator {
  readonly #redactor: Pick<Redactor, "hidden">;

  constructor(redactor: Pick<Redactor, "hidden"> = createRedactor()) {
    this.#redactor = redactor;
  }

  evaluate(text: string): MemoryVerdict {
    const kind = this.#secretIn(text);
    return kind === undefined
      ? { allowed: true }
      : { allowed: false, reason: `it holds ${kind}, and secrets are not remembered` };
  }

  #secretIn(text: string): string | undefined {
    if (this.#redactor.hidden(text).size > 0) return "what looks like a secret";
    if (/\b(?:pass(?:word|wd|phrase|code)|pwd|pin|secret|token|api[ _-]?key|private key)\b\s*(?:is|=|:)\s*\S/i.test(text))
      return "a password or key";
    if (/\b\d{3}-\d{2}-\d{4}\b/.test(text)) return "a social security number";
    for (const [digits] of text.matchAll(/\b\d(?:[ -]?\d){12,18}\b/g))
      if (isCardNumber(digits.replace(/\D/g, ""))) return "a card number";
    return undefined;
  }
}

/** By its check digit. */
function isCardNumber(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0 && !/^(\d)\1*$/.test(digits);
}
