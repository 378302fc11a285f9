import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { parseJsonObject } from "./json-text.ts";
import type { SettingsFile, SettingsLayer } from "./layers.ts";
import { messageOf } from "../util/message-of.ts";

const maxBytes = 1024 * 1024;

/** A settings file; what cannot be read or understood is an error, never left out. */
export function readLayer(file: SettingsFile): SettingsLayer {
  const text = readRegularFile(file.path);
  if (text.trim() === "") return { ...file, values: {}, lineOf: () => undefined, note: `${file.path} is empty` };
  return { ...file, ...parseJsonObject(text, file.path) };
}

/** What was given for this once: JSON when it begins like an object, else a file. */
export function readInline(words: string, name = "settings"): SettingsLayer {
  if (!words.trimStart().startsWith("{")) return readLayer({ scope: "flag", dialect: "outrider", path: resolve(words) });
  const { values } = parseJsonObject(words, name);
  return { scope: "flag", dialect: "outrider", path: name, values, lineOf: () => undefined };
}

/** Through links, but only a file: what waits for a writer, or never ends, would hold up the run. */
function readRegularFile(path: string): string {
  const file = open(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new RuntimeError("config", `${path} is ${stat.isDirectory() ? "a folder" : "no ordinary file"}`);
    return decode(readUpTo(file, maxBytes, path), path);
  } finally {
    closeSync(file);
  }
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException; // fs throws nothing else
    throw new RuntimeError("config", `${path} cannot be read: ${message}`);
  }
}

function readUpTo(file: number, limit: number, path: string): Buffer {
  const bytes = Buffer.allocUnsafe(limit + 1);
  let length = 0;
  try {
    for (let read = -1; read !== 0 && length <= limit; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
  } catch (error) {
    throw new RuntimeError("config", `${path} cannot be read: ${messageOf(error)}`);
  }
  if (length > limit)
    throw new RuntimeError("config", `${path} is larger than ${limit / 1024 / 1024} MB, too large for settings`);
  return bytes.subarray(0, length);
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes); // leaves a byte order mark out
  } catch {
    throw new RuntimeError("config", `${path} is not UTF-8 text`);
  }
}
