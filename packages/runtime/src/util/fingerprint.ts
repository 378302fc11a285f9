/** The same for values that are the same as JSON, whatever the order of their keys. */
export function fingerprint(value: unknown): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(canonicalJson(value)).digest("base64");
}

function canonicalJson(value: unknown): string {
  const inOrder = (_: string, item: unknown): unknown =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  return JSON.stringify(value, inOrder) ?? "undefined";
}
