import { readFileSync } from "node:fs";
import { RuntimeError } from "../protocol/errors.ts";
import type { ParsedJson } from "./json-text.ts";

/** The object a JSON file holds; empty when there is no file. */
export async function readJsonFile(path: string): Promise<ParsedJson> {
  const text = readText(path);
  if (text === undefined) return { values: {}, lineOf: () => 1 };
  const { parseJsonObject } = await import("./json-text.ts");
  return parseJsonObject(text, path);
}

/** Synchronous: a tiny file, and waiting for the thread pool takes longer than the work. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new RuntimeError("config", `${path} cannot be read: ${message}`);
  }
}
