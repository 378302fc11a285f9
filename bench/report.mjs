/** The table of all rows, in the order they were measured. */
export function formatTable(rows) {
  const table = [["row", "what", "floor", "ours", "ratio", "target", ""], ...rows.map(toCells)];
  const widths = table[0].map((_, column) => Math.max(...table.map((cells) => cells[column].length)));
  const isText = (column) => column < 2 || column === 6;
  const lines = table.map((cells) =>
    cells.map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join("  "),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return lines.map((line) => line.trimEnd()).join("\n");
}

function toCells(row) {
  const { name, what, unit, floor, ours, ratio, target, ok, skipped, broken } = row;
  if (broken) return [name, what, "", "", "", "", "NOT MEASURED"];
  if (skipped) return [name, what, "", "", "", "", `skipped: ${skipped}`];
  const verdict = ok ? "ok" : "OVER";
  if (!floor) return [name, what, "", `${ours.median.toFixed(1)} ${unit}`, "", `≤ ${target} ${unit}`, verdict];
  return [name, what, toCell(floor, unit), toCell(ours, unit), `${ratio.toFixed(2)} ×`, `≤ ${target} ×`, verdict];
}

function toCell({ median, spread }, unit) {
  return `${median.toFixed(median < 10 ? 2 : 1)} ${unit} ±${((spread / 2) * 100).toFixed(0).padStart(2)}%`;
}
