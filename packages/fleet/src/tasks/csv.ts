import { RuntimeError } from "@outrider/runtime";

/** Rows of a table with a header, as RFC 4180 has them: quotes double, line ends inside quotes stay. */
export function parseCsv(text: string): Record<string, string>[] {
  const [header, ...rows] = toCells(text.replace(/^\uFEFF/, ""));
  if (!header) return [];
  const names = header.map((name) => name.trim());
  const long = rows.findIndex(({ length }) => length > names.length);
  if (long >= 0) throw wrongTable(`row ${long + 2} has ${rows[long]?.length} fields, the header ${names.length}`);
  return rows.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""])));
}

function toCells(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endRow = (): void => {
    row.push(cell);
    cell = "";
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[at++];
      else isQuoted = false;
    } else if (sign === '"' && cell === "") isQuoted = true;
    else if (sign === ",") {
      row.push(cell);
      cell = "";
    } else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && text[at + 1] === "\n") at++;
      endRow();
    } else cell += sign;
  }
  if (isQuoted) throw wrongTable(`a quote is not closed in row ${rows.length + 1}`);
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}

function wrongTable(problem: string): RuntimeError {
  return new RuntimeError("usage", `The table cannot be read: ${problem}`);
}
