import type { PipelineNode, Redirection } from "unbash";
import type { Places } from "./places.ts";
import { namesPrinted, type PrintedNames } from "./printed-names.ts";
import type { ShellScope } from "./shell-scope.ts";
import { setsInput, wordsPrintedBy } from "./shell-syntax.ts";

/** What comes through the pipe to the command that is being read. */
export class PipeInput {
  /** What earlier commands of the pipeline print, as far as it is written out. */
  words: readonly string[] = [];
  /** Somebody else of the line has a say in what is read. */
  isFed = false;
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
    this.isFed = true;
  }

  /** With another input, what is in the pipe is not read. */
  redirected(redirects: readonly Redirection[], run: () => void): void {
    const inputs = redirects.filter(setsInput);
    if (inputs.length === 0) return run();
    this.replaced(!inputs.every(isEmpty), run);
  }

  /** What `>(…)` reads is what is written to it. */
  replaced(isFed: boolean, run: () => void): void {
    this.within(() => {
      this.#names = undefined;
      this.isFed = isFed;
      run();
    });
  }

  /** Inside a command, which reads the same input as before when the inner pipeline is over. */
  within(run: () => void): void {
    const [words, names, printedAt, isFed] = [this.words, this.#names, this.#printedAt, this.isFed];
    run();
    this.words = words;
    this.#names = names;
    this.#printedAt = printedAt;
    this.isFed = isFed;
  }
}

function isEmpty(redirection: Redirection): boolean {
  return redirection.type === "Redirect" && redirection.operator === "<" && redirection.target?.text === "/dev/null";
}
