import { isAbsolute, resolve } from "node:path";
import type { JsonObject } from "../protocol/content.ts";

/** What hooks and hosts are told of a call's input: a file is named by its whole path, since they compare it with others. */
export function toHookInput(input: JsonObject, root: string): JsonObject {
  const { file_path: path } = input;
  return typeof path === "string" && path !== "" && !isAbsolute(path) ? { ...input, file_path: resolve(root, path) } : input;
}
