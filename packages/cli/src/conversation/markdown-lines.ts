import type { Paint } from "../terminal/paint.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { textWidth } from "../terminal/text-width.ts";
import { isTableRow, layTable } from "./table-lines.ts";

type Styled = { readonly text: string; readonly paint?: (text: string) => string };

/** Markdown as it arrives, in lines for a terminal: a line is told when it is complete, or when the text is. */
export class MarkdownLines {
  readonly #paint: Paint;
  readonly #columns: () => number;
  #rest = "";
  #isCode = false;
  /** Rows of a table, whose columns are as wide as the widest of them all. */
  #rows: string[] = [];

  constructor(paint: Paint, columns: () => number) {
    this.#paint = paint;
    this.#columns = columns;
  }

  /** The beginning of a line that is not complete yet. */
  get rest(): string {
    return this.#rest;
  }

  feed(text: string): string[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#tell(line));
  }

  /** The text is complete: what waits is its last line, and the next text begins anew. */
  end(): string[] {
    const last = this.#rest === "" ? [] : this.#tell(this.#rest);
    const table = this.#endTable();
    this.clear();
    return [...last, ...table];
  }

  /** The text so far was void. */
  clear(): void {
    this.#rest = "";
    this.#isCode = false;
    this.#rows = [];
  }

  #tell(raw: string): string[] {
    const line = terminalText(raw.replace(/\r$/, "")).replaceAll("\t", "  ");
    if (!this.#isCode && isTableRow(line)) {
      this.#rows.push(line);
      return [];
    }
    return [...this.#endTable(), ...this.#tellLine(line)];
  }

  #endTable(): string[] {
    const rows = this.#rows;
    if (rows.length === 0) return [];
    this.#rows = [];
    const toCell = (text: string) => {
      const parts = this.#inline(text);
      const width = parts.reduce((all, part) => all + textWidth(part.text), 0);
      return { text: parts.map((part) => part.paint?.(part.text) ?? part.text).join(""), width };
    };
    const columns = Math.max(20, this.#columns() - 1);
    return layTable(rows, { columns, toCell }) ?? rows.flatMap((row) => this.#lay("", this.#inline(row)));
  }

  #tellLine(line: string): string[] {
    const { bold, dim, yellow } = this.#paint;
    if (/^\s*(?:```|~~~)/.test(line)) {
      this.#isCode = !this.#isCode;
      return [dim(line)];
    }
    // Code stands as it is written: it may be copied from here.
    if (this.#isCode) return [yellow(line)];
    const [, heading] = /^#{1,6}\s+(.*)$/.exec(line) ?? [];
    if (heading !== undefined) return this.#lay("", [{ text: plain(heading), paint: bold }]);
    const [, indent = "", mark = "", item] = /^(\s*)(?:[-*+]|(\d{1,9}[.)]))\s+(.*)$/.exec(line) ?? [];
    if (item !== undefined) return this.#lay(`${indent}${mark || "•"} `, this.#inline(item));
    const [, quoted] = /^>\s?(.*)$/.exec(line) ?? [];
    if (quoted !== undefined) return this.#lay("│ ", [{ text: plain(quoted), paint: dim }], "│ ");
    return this.#lay("", this.#inline(line));
  }

  #inline(text: string): Styled[] {
    const { bold, yellow } = this.#paint;
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*|__[^_]+__)/).map((part): Styled => {
      if (/^`[^`]+`$/.test(part)) return { text: part.slice(1, -1), paint: yellow };
      if (/^(?:\*\*[^*]+\*\*|__[^_]+__)$/.test(part)) return { text: part.slice(2, -2), paint: bold };
      return { text: part };
    });
  }

  /** Broken between words; lines after the first stand below the text, not below its mark. */
  #lay(first: string, parts: readonly Styled[], next: string = " ".repeat(textWidth(first))): string[] {
    const most = Math.max(20, this.#columns() - 1);
    const lines: string[] = [];
    let line = first;
    let width = textWidth(first);
    let isEmpty = true;
    for (const { text, paint = (same: string) => same } of parts) {
      for (const piece of text.split(/(\s+)/)) {
        const wide = textWidth(piece);
        if (width + wide > most && !isEmpty) {
          lines.push(line.trimEnd());
          [line, width, isEmpty] = [next, textWidth(next), true];
          if (piece.trim() === "") continue;
        }
        line += piece.trim() === "" ? piece : paint(piece);
        width += wide;
        isEmpty &&= piece.trim() === "";
      }
    }
    return [...lines, line.trimEnd()];
  }
}

function plain(text: string): string {
  return text.replace(
    /`([^`]+)`|\*\*([^*]+)\*\*/g,
    (_, code: string | undefined, strong: string | undefined) => code ?? strong ?? "",
  );
}
