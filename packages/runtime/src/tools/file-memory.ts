import type { ToolMemory } from "./tool.ts";
import { ToolFailure } from "./tool.ts";

/** A file as this session last saw it. The hash decides; size and time are for people who look. */
export type FileState = { hash: string; size: number; mtimeMs: number };

/** Called by a tool that showed or wrote a whole file: from now on the model may change it. */
export function rememberFile(memory: ToolMemory, path: string, seen: { bytes: Uint8Array; mtimeMs: number }): void {
  filesOf(memory).set(path, { hash: hashOf(seen.bytes), size: seen.bytes.length, mtimeMs: seen.mtimeMs });
}

/** Is the file, byte for byte, the one this session last read or wrote? */
export function howSeen(memory: ToolMemory, path: string, bytes: Uint8Array): "seen" | "unread" | "changed" {
  const known = filesOf(memory).get(path);
  if (!known) return "unread";
  return known.hash === hashOf(bytes) ? "seen" : "changed";
}

/** Throws unless it is. */
export function requireSeen(memory: ToolMemory, path: string, now: { bytes: Uint8Array; name: string }): void {
  const seen = howSeen(memory, path, now.bytes);
  if (seen === "unread") throw new ToolFailure(`${now.name} has not been read in this session. Read it first, then change it.`);
  if (seen === "changed") throw new ToolFailure(`${now.name} has changed since it was last read. Read it again, then change it.`);
}

function filesOf(memory: ToolMemory): Map<string, FileState> {
  return memory.slot("files", () => new Map<string, FileState>());
}

function hashOf(bytes: Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex");
}
