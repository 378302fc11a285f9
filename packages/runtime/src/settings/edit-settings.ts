import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { replaceFile } from "../util/replace-file.ts";
import { readJsonFile } from "./json-file.ts";
import type { ParsedJson } from "./json-text.ts";
import { messageOf } from "../util/message-of.ts";

/** Changes what a JSON file says: whole or not at all. `check` refuses what could not be read again, before and after. */
export async function editSettings(
  path: string,
  {
    check,
    change,
    mode,
  }: { check: (file: ParsedJson) => Promise<unknown>; change: (values: JsonObject) => JsonObject; mode: number },
): Promise<void> {
  const before = await readJsonFile(path);
  await check(before);
  const values = change(before.values);
  await check({ ...before, values });
  try {
    makeFolder(dirname(path), mode === 0o600 ? 0o700 : 0o777);
    const target = await realpath(path).catch(() => path); // a link stays one: people keep their settings elsewhere
    await replaceFile(target, `${JSON.stringify(values, null, 2)}\n`, { mode });
  } catch (error) {
    throw new RuntimeError("storage-failed", `${path} cannot be written: ${messageOf(error)}`);
  }
}
