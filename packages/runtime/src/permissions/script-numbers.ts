import type { SyntaxNode, Word } from "unbash";
import { filledNames, namesRead, numericNames, plainVariables, type Setters } from "./shell-setters.ts";

/** What one script computes: bash evaluates every variable in an expression, and whatever the variable holds. */
export class ScriptNumbers {
  /** Variables that hold nothing but digits, if anything. */
  readonly #names: ReadonlySet<string>;
  readonly #filled: ReadonlySet<string>;
  /** Variables that hold nothing bash would take for a pattern. */
  readonly #plain: ReadonlySet<string>;
  /** Where two parentheses stand together and are known not to compute, or to compute with digits. */
  readonly #explained: { readonly pos: number; readonly end: number }[] = [];

  /** `ownEnvironment`: variables it does not set are the user's, and not what another part of the line has given it. */
  constructor(setters: Setters, ownEnvironment: boolean) {
    this.#names = numericNames(setters);
    this.#filled = filledNames(setters);
    this.#plain = plainVariables(setters, ownEnvironment);
  }

  isPlainText(name: string): boolean {
    return this.#plain.has(name);
  }

  isNumeric(name: string): boolean {
    return this.#names.has(name);
  }

  /** Is it a number wherever it is set? */
  isFilled(name: string): boolean {
    return this.#filled.has(name);
  }

  /** Digits, and variables that hold nothing else. */
  computesSafely(expression: Parameters<typeof namesRead>[0] | undefined): boolean {
    const names = expression ? namesRead(expression) : [];
    return names.every((name) => this.#names.has(name));
  }

  isIndex(word: Word): boolean {
    return /^\s*-?\d+\s*$/.test(word.text) || this.isNumber(word) || this.#names.has(word.text);
  }

  isNumber(word: Word): boolean {
    const text = word.text.replace(/^"(.*)"$/, "$1");
    const name = text.replace(/^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))$/, "$1$2");
    return name === text ? /^(?:-?\d+|\$[#?]|\$\{#\w+\})$/.test(text) : this.#names.has(name);
  }

  /** Parentheses in this node are quoted, or its expression is judged for itself. */
  explain(node: SyntaxNode): void {
    switch (node.type) {
      case "ArithmeticFor":
        this.#explained.push({ pos: node.pos, end: node.body.pos });
        break;
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#explained.push(node);
        break;
      case "DoubleQuoted":
        for (const part of node.parts) if (part.type === "Literal") this.#explained.push(part);
        break;
      case "HereDocBody":
        for (const part of node.parts ?? [node]) if (part.type === "Literal" || part === node) this.#explained.push(part);
        break;
    }
  }

  /** Bash tries to compute first wherever it sees two parentheses: all of them must be explained. */
  mayCompute(text: string): boolean {
    const isExplained = (at: number): boolean => this.#explained.some(({ pos, end }) => pos <= at && at < end);
    return [...text.matchAll(/\(\(/g)].some(({ index }) => !isExplained(index));
  }
}
