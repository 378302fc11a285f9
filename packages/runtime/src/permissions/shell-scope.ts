import type { SyntaxNode } from "unbash";
import type { Places } from "./places.ts";
import { ScriptNumbers } from "./script-numbers.ts";
import { withoutSet } from "./shell-bindings.ts";
import { setByTheWay, settersIn } from "./shell-setters.ts";
import { type Bindings, type ShellWord, unknownWord } from "./shell-words.ts";

const noNumbers = new ScriptNumbers({ setters: [], any: false }, true);

/** Where a shell is and what its variables hold, at the point of the line that is being read. */
export class ShellScope {
  places: Places = [[]];
  bindings: Bindings = new Map();
  /** Of the script that is being read. */
  numbers: ScriptNumbers = noNumbers;
  /** Where names of files were put into a variable. */
  readonly #boundAt = new WeakMap<ShellWord, { readonly places: Places }>();

  /** What variables hold, as far as it is known here: names of files mean others in another folder, and have not been looked at there. */
  known(): Bindings {
    const isKnown = (word: ShellWord): boolean => {
      const bound = this.#boundAt.get(word);
      return bound === undefined || bound.places === this.places;
    };
    return new Map([...this.bindings].map(([name, word]) => [name, isKnown(word) ? word : unknownWord]));
  }

  bind(name: string, word: ShellWord): void {
    // Each time a word of its own: the same one may be bound elsewhere.
    const own = { ...word };
    if (word.kind === "glob" || word.kind === "below") this.#boundAt.set(own, { places: this.places });
    this.bindings = new Map([...this.bindings, [name, own]]);
  }

  /** What is known of these, if this part of a script may have run. */
  without(bindings: Bindings, node: SyntaxNode): Bindings {
    return withoutSet(bindings, settersIn(node), this.numbers);
  }

  /** What this sets by the way may be anything from here on. */
  setByTheWay(node: SyntaxNode): void {
    const setters = setByTheWay(node);
    if (setters.length > 0) this.bindings = withoutSet(this.bindings, { setters, any: false }, this.numbers);
  }

  /** In a process of its own: what it sets and where it goes does not count outside. */
  apart<Result>(run: () => Result): Result {
    const { places, bindings } = this;
    const result = run();
    this.places = places;
    this.bindings = bindings;
    return result;
  }
}
