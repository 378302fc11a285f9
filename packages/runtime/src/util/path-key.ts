/**
 * A file name that stands for one absolute path: readable, and different for different paths.
 * Only names that no file system would take need a hash, which costs loading `node:crypto`.
 */
export function pathKey(path: string): string {
  const name = encodeURIComponent(path.toWellFormed());
  if (name.length <= 200 && path.isWellFormed()) return name;
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(path, "utf16le").digest("hex");
}
