import { join } from "node:path";
import { withoutHiddenText } from "./hidden-text.ts";
import { openInstructionFile } from "./instruction-file.ts";
import type { InstructionPlaces } from "./instructions.ts";

const maxLines = 200;
const maxBytes = 25_600;

/**
 * The index of the project's memory, `.outrider/memory/MEMORY.md`, under a heading; empty without one. Of a long index the beginning.
 * It is words like those of AGENTS.md: it permits nothing.
 */
export function loadMemoryIndex(root: string, mayRead?: InstructionPlaces["mayRead"]): string {
  const text = loadIndexFile(join(root, ".outrider/memory/MEMORY.md"), { within: root, mayRead });
  return text === "" ? "" : `# Project Memory\n\n${text}`;
}

/** The same of a file that is somewhere else, without the heading. */
export function loadIndexFile(
  path: string,
  { within, mayRead }: { readonly within: string; readonly mayRead?: InstructionPlaces["mayRead"] | undefined },
): string {
  const file = openInstructionFile(path, within);
  return file.type === "read" && mayRead?.(file.realPath) !== false ? capped(withoutHiddenText(file.text).text).trim() : "";
}

/** Cut between characters and, where it is cut, after a whole line. */
function capped(text: string): string {
  const lines = text.split("\n").slice(0, maxLines);
  let bytes = 0;
  const kept: string[] = [];
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > maxBytes + 1) {
      kept.push(new TextDecoder().decode(Buffer.from(line).subarray(0, maxBytes - bytes), { stream: true }));
      break;
    }
    kept.push(line);
    bytes += size;
  }
  return kept.join("\n");
}
