import { createHash } from "node:crypto";

/** A name for files and sessions: what is not plain in it gives way, and a short checksum keeps different ones apart. */
export function safeName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(text)) return text;
  const plain =
    text
      .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
      .replace(/^[-_]+/, "")
      .slice(0, 80) || "task";
  return `${plain}-${createHash("sha256").update(text).digest("hex").slice(0, 10)}`;
}
