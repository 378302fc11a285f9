import { RuntimeError } from "@outrider/runtime";

/**
 * Rows of a table with a header, as RFC 4180 has them: quotes double, line ends inside quotes stay. Where the header has no comma, its fields
 * may be divided by semicolons or tabs, as some spreadsheets write them. Columns without a name are left out.
 */
export function parseCsv(text: string): Record<string, string>[] {
  const plain = text.replace(/^\uFEFF/, "");
  const first = /^[^\r\n]*/.exec(plain)?.[0] ?? "";
  const [header, ...rows] = toCells(plain, [",", ";", "\t"].find((sign) => first.includes(sign)) ?? ",");
  if (!header) return [];
  const names = header.map((name) => name.trim());
  const twice = names.find((name, at) => name !== "" && names.indexOf(name) !== at);
  if (twice !== undefined) throw wrongTable(`two columns have the name ${JSON.stringify(twice)}`);
  const long = rows.findIndex(({ length }) => length > names.length);
  if (long >= 0) throw wrongTable(`row ${long + 2} has ${rows[long]?.length} fields, the header ${names.length}`);
  return rows.map((cells) =>
    Object.fromEntries(names.flatMap((name, index) => (name === "" ? [] : [[name, cells[index] ?? ""]]))),
  );
}

function toCells(text: string, divider: string): string[][] {
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
    else if (sign === divider) {
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
