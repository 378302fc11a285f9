import { relative } from "node:path";

const shown = 12;

/** A reporter for Node's test runner, beside the one that shows the tests: at the end, which files took longest. */
export async function* slowestFiles(events) {
  const files = new Map();
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.nesting !== 0 || !data.file) continue;
    files.set(data.file, (files.get(data.file) ?? 0) + data.details.duration_ms);
  }
  const slowest = [...files].sort(([, a], [, b]) => b - a).slice(0, shown);
  if (files.size <= shown) return;
  yield `\nThe slowest of ${files.size} files:\n`;
  for (const [file, ms] of slowest) yield `${(ms / 1000).toFixed(1).padStart(8)} s  ${relative(process.cwd(), file)}\n`;
}
