import type { PipelineNode, Redirection } from "unbash";
import type { Places } from "./places.ts";
import { namesPrinted, type PrintedNames } from "./printed-names.ts";
import type { ShellScope } from "./shell-scope.ts";
import { setsInput, wordsPrintedBy } from "./shell-syntax.ts";

/** What comes through the pipe to the command that is being read. */
export class PipeInput {
  /** What earlier commands of the pipeline print, as far as it is written out. */
  words: readonly string[] = [];
  #names: PrintedNames | undefined;
  /** Where the names were printed. */
  #printedAt: Places;

  /** Names of files that the input consists of, if they mean the same files here. */
  namesAt(places: Places): PrintedNames | undefined {
    return places !== undefined && places === this.#printedAt ? this.#names : undefined;
  }

  /** The next command of the pipeline reads what this one prints. */
  follow(before: PipelineNode, operator: string | undefined, scope: ShellScope): void {
    this.words = [...this.words, ...wordsPrintedBy(before)];
    this.#names = operator === "|" ? namesPrinted(before, this.namesAt(scope.places), scope.known()) : undefined;
    this.#printedAt = scope.places;
  }

  /** With another input, what is in the pipe is not read. */
  redirected(redirects: readonly Redirection[], run: () => void): void {
    if (redirects.some(setsInput)) this.replaced(run);
    else run();
  }

  /** What `>(…)` reads is what is written to it. */
  replaced(run: () => void): void {
    this.within(() => {
      this.#names = undefined;
      run();
    });
  }

  /** Inside a command, which reads the same input as before when the inner pipeline is over. */
  within(run: () => void): void {
    const [words, names, printedAt] = [this.words, this.#names, this.#printedAt];
    run();
    this.words = words;
    this.#names = names;
    this.#printedAt = printedAt;
  }
}
