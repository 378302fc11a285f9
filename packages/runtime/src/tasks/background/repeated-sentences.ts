type Sentence = { readonly words: string; readonly end: number };

/** What has fewer words says too little to be a loop: a rule of a table, a closing brace, "Done." */
const fewestWords = 3;
const shortestLength = 12;
const maxSentences = 512;

/** Finds an agent that says the same sentence again and again. Words count, not the pieces in which they come. */
export class RepeatedSentences {
  readonly #window: number;
  readonly #threshold: number;
  #sentences: Sentence[] = [];
  #rest = "";
  #position = 0;

  constructor({ window, threshold }: { readonly window: number; readonly threshold: number }) {
    this.#window = window;
    this.#threshold = threshold;
  }

  /** True once a sentence has come too often. */
  add(text: string): boolean {
    const parts = (this.#rest + text).split(/[.!?\n]+/);
    this.#rest = (parts.pop() ?? "").slice(-4 * this.#window);
    return parts.some((part) => this.#isLoop(part));
  }

  #isLoop(part: string): boolean {
    this.#position += part.length + 1;
    const words = part.match(/[\p{L}\p{N}]+/gu) ?? [];
    const said = words.join(" ").toLowerCase();
    if (words.length < fewestWords || said.length < shortestLength) return false;
    this.#sentences.push({ words: said, end: this.#position });
    if (this.#sentences.length > maxSentences) this.#sentences = this.#sentences.slice(-maxSentences / 2);
    // A long sentence fills the window by itself: it has room to be said as often as a short one.
    const from = this.#position - Math.max(this.#window, 2 * this.#threshold * (part.length + 1));
    const times = this.#sentences.filter((other) => other.end > from && other.words === said).length;
    return times >= this.#threshold;
  }
}
