/** A piece of a cell as it is shown, and how wide that is without its colours. */
export type Cell = { readonly text: string; readonly width: number };

const gap = "  ";

/** Is it a row of a table? What is only half written is none. */
export function isTableRow(line: string): boolean {
  return /^\s*\|.*\|\s*$/.test(line);
}

/** Rows of a Markdown table in columns; undefined where they are no table, or do not fit beside each other. */
export function layTable(
  rows: readonly string[],
  options: { columns: number; toCell: (text: string) => Cell },
): string[] | undefined {
  const [head, rule, ...body] = rows.map(cellsOf);
  if (!head || !rule?.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  const cells = [head, ...body].map((row) => head.map((_, at) => options.toCell(row[at] ?? "")));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.width ?? 0)));
  if (widths.reduce((all, width) => all + width + gap.length, 0) > options.columns) return undefined;
  const lines = cells.map((row) =>
    row
      .map(({ text, width }, at) => pad(text, (widths[at] ?? 0) - width, isRight(rule[at])))
      .join(gap)
      .trimEnd(),
  );
  const line = widths.map((width) => "─".repeat(width)).join(gap);
  return [lines[0] ?? "", line, ...lines.slice(1)];
}

/** What stands between the bars; `\|` is none of them. */
function cellsOf(row: string): string[] {
  const inner = row.trim().slice(1, -1);
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function isRight(rule = ""): boolean {
  return rule.endsWith(":") && !rule.startsWith(":");
}

function pad(text: string, by: number, right: boolean): string {
  return right ? " ".repeat(by) + text : text + " ".repeat(by);
}
