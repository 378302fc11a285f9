// A reporter for Node's test runner: at the end, which files took longest. It is given beside the one that shows the tests.
import { relative } from "node:path";

const shown = 12;

// biome-ignore lint/style/noDefaultExport: the test runner takes the default export of a reporter
export default async function* slowestFiles(events) {
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
