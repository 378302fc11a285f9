import { readFileSync } from "node:fs";
import { RuntimeError } from "@outrider/runtime";

/** What a flag names a file for. */
export function readTextFile(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new RuntimeError("usage", `${flag}: ${error instanceof Error ? error.message : error}`);
  }
}
