import { textWidth } from "../terminal/text-width.ts";

/** What stands below everything that was said: it is painted anew after each line. */
export type Bottom = {
  readonly lines: readonly string[];
  /** Where the cursor stands in them. */
  readonly row: number;
  readonly column: number;
};

/** A terminal whose last lines change while what was said above them stays, and scrolls away as in any other program. */
export class Screen {
  readonly #output: NodeJS.WriteStream;
  #painted: Bottom | undefined;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  get rows(): number {
    return this.#output.rows || 24;
  }

  /** Lines that stay, and what stands below them then. */
  show(said: readonly string[], bottom: Bottom): void {
    const { lines, row, column } = bottom;
    const up = lines.length - 1 - row;
    const cursor = `${up > 0 ? `\x1b[${up}A` : ""}\r${column > 0 ? `\x1b[${column}C` : ""}`;
    const told = said.map((line) => `${line}\n`).join("");
    this.#output.write(`\x1b[?25l${this.#erase()}${told}${lines.join("\n")}${cursor}\x1b[?25h`);
    this.#painted = bottom;
  }

  /** Takes away what stands at the bottom. */
  clear(): void {
    this.#output.write(this.#erase());
    this.#painted = undefined;
  }

  /** A terminal that became narrower shows a line in several rows. */
  #erase(): string {
    if (!this.#painted) return "";
    const { lines, row, column } = this.#painted;
    const rowsOf = (line: string): number => Math.max(1, Math.ceil(textWidth(plainText(line)) / this.columns));
    const above = lines.slice(0, row).reduce((sum, line) => sum + rowsOf(line), Math.floor(column / this.columns));
    return `${above > 0 ? `\x1b[${above}A` : ""}\r\x1b[J`;
  }
}

/** Without the signs that paint it. */
export function plainText(line: string): string {
  return line.replace(/\p{Cc}\[[\d;]*m/gu, "");
}
