import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { RuntimeError } from "../protocol/errors.ts";
import type { Editor } from "./editor.ts";
import { requireNoLink } from "./exact-path.ts";

/** Larger texts stay between us and the disk. */
const maxBytes = 4 * 1024 * 1024;

/** What the editor shows of a file that has these bytes on disk: its text where that is not saved yet, else the bytes. */
export async function readInEditor(editor: Editor, path: string, bytes: Uint8Array): Promise<Uint8Array> {
  const saved = textOf(bytes);
  if (!editor.readText || saved === undefined || !editor.covers(path)) return bytes;
  const shown = await editor.readText(path).catch(() => undefined);
  if (shown === undefined || shown.includes("\0") || unified(shown) === unified(saved)) return bytes;
  return Buffer.from(asStored(shown, saved));
}

/**
 * Has the editor write a file, so that what it shows is what was written. True when the disk holds exactly this afterwards; the caller
 * writes otherwise. An editor follows links, so the path is looked at before it writes.
 */
export async function writeInEditor(editor: Editor, path: string, content: Uint8Array | string): Promise<boolean> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const text = textOf(bytes);
  if (!editor.writeText || text === undefined || !editor.covers(path) || !existsSync(path)) return false; // nobody has open what is not there
  requireNoLink(path);
  try {
    await editor.writeText(path, text);
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "busy") throw error;
    return false;
  }
  const written = await readFile(path).catch(() => undefined);
  return written !== undefined && Buffer.compare(written, bytes) === 0;
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > maxBytes || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // another encoding, which editors convert as they see fit
  }
}

const mark = "\uFEFF";

/** Editors keep the byte order mark and the kind of line endings beside the text. */
function unified(text: string): string {
  return text.replace(mark, "").replaceAll("\r\n", "\n");
}

function asStored(shown: string, saved: string): string {
  const text = unified(shown);
  const lines = saved.includes("\r\n") && !/[^\r]\n/.test(saved) ? text.replaceAll("\n", "\r\n") : text;
  return saved.startsWith(mark) ? mark + lines : lines;
}
