import { readFile } from "node:fs/promises";
import { RuntimeError } from "../protocol/errors.ts";
import type { ParsedJson } from "./json-text.ts";

/** The object a JSON file holds; empty when there is no file. */
export async function readJsonFile(path: string): Promise<ParsedJson> {
  const text = await readText(path);
  if (text === undefined) return { values: {}, lineOf: () => 1 };
  const { parseJsonObject } = await import("./json-text.ts");
  return parseJsonObject(text, path);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).replace(/^\ufeff/, "");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs rejects with nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new RuntimeError("config", `${path} cannot be read: ${message}`);
  }
}
