import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";

/** More than anybody ships; a bundle is read as a whole whenever it is loaded. */
export const bundleLimits: { readonly files: number; readonly bytes: number; readonly depth: number } = {
  files: 10_000,
  bytes: 128 * 1024 * 1024,
  depth: 32,
};

export type BundleEntry =
  | { readonly type: "file"; readonly name: string; readonly size: number; readonly executable: boolean }
  | { readonly type: "link"; readonly name: string; readonly target: string };

/** Every file and link of a bundle, sorted by name. Throws for what is too much, and for pipes, sockets and devices. */
export function listBundle(root: string, { withoutGit = false }: { readonly withoutGit?: boolean } = {}): BundleEntry[] {
  const entries: BundleEntry[] = [];
  let bytes = 0;
  const visit = (folder: string, depth: number): void => {
    if (depth > bundleLimits.depth) throw tooMuch(`${folder} is nested too deeply`);
    for (const child of readdirSync(join(root, folder)).sort()) {
      if (withoutGit && folder === "" && child === ".git") continue;
      const name = folder === "" ? child : `${folder}/${child}`;
      const stat = lstatSync(join(root, name));
      if (stat.isDirectory()) {
        visit(name, depth + 1);
        continue;
      }
      if (stat.isSymbolicLink()) entries.push({ type: "link", name, target: readlinkSync(join(root, name)) });
      else if (stat.isFile()) entries.push({ type: "file", name, size: stat.size, executable: (stat.mode & 0o100) !== 0 });
      else throw new RuntimeError("config", `${name} is neither a file nor a folder`);
      bytes += stat.size;
      if (entries.length > bundleLimits.files) throw tooMuch(`it has more than ${bundleLimits.files} files`);
      if (bytes > bundleLimits.bytes) throw tooMuch(`it has more than ${bundleLimits.bytes / 1024 / 1024} MB`);
    }
  };
  visit("", 0);
  return entries;
}

/** One number for names, contents and what may be executed: the same on every machine. */
export function hashBundle(root: string, entries: readonly BundleEntry[] = listBundle(root)): string {
  const whole = createHash("sha256");
  for (const entry of entries) {
    const content =
      entry.type === "link"
        ? `link ${createHash("sha256").update(entry.target).digest("hex")}`
        : `${entry.executable ? "program" : "file"} ${hashFile(join(root, entry.name))}`;
    whole.update(`${JSON.stringify(entry.name)} ${content}\n`);
  }
  return `sha256:${whole.digest("hex")}`;
}

function hashFile(path: string): string {
  const hash = createHash("sha256");
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    if (!fstatSync(descriptor).isFile()) throw new RuntimeError("config", `${path} is no regular file`);
    const buffer = Buffer.allocUnsafe(256 * 1024);
    for (let count = -1; count !== 0; ) {
      count = readSync(descriptor, buffer, 0, buffer.length, null);
      hash.update(buffer.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
  return hash.digest("hex");
}

function tooMuch(what: string): RuntimeError {
  return new RuntimeError("config", `The plugin is too large: ${what}`);
}
