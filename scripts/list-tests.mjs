import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Every `*.test.ts` below a folder. */
export function listTests(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (["node_modules", "dist", ".cache", ".git"].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listTests(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
