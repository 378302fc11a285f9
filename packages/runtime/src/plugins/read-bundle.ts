import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { isInside } from "../util/is-inside.ts";

const maxBytes = 1024 * 1024;

/** The object in a JSON file of a bundle; undefined when there is none. Throws for a file that leads out, is too long or is no JSON. */
export function readBundleJson(root: string, name: string, limit: number = maxBytes): JsonObject | undefined {
  const text = readBundleFile(root, name, limit);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw wrong(root, name, `is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (isJsonObject(value)) return value;
  throw wrong(root, name, "must hold an object");
}

/** Up to 1 MB of a regular file that lies inside the bundle. */
function readBundleFile(root: string, name: string, limit: number): string | undefined {
  const path = join(root, name);
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw wrong(root, name, `cannot be read: ${message}`);
  }
  if (!isInside(realpathSync.native(root), real)) throw wrong(root, name, "leads out of the plugin");
  // Not blocking and not following: a pipe would wait for ever, and a link put there just now leads elsewhere.
  const descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw wrong(root, name, "is no regular file");
    if (stat.size > limit) throw wrong(root, name, `has ${stat.size} bytes, and may have ${limit}`);
    const buffer = Buffer.alloc(stat.size);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0)).toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** A path of a manifest below the bundle; undefined for one that leads elsewhere. Links are looked at when the file is read. */
export function bundlePath(written: string): string | undefined {
  if (written === "" || written.includes("\0") || written.includes("\\") || isAbsolute(written)) return undefined;
  const path = normalize(written).replace(/\/$/, "");
  return path === ".." || path.startsWith("../") ? undefined : path;
}

function wrong(root: string, name: string, what: string): RuntimeError {
  return new RuntimeError("config", `${join(root, name)} ${what}`);
}
