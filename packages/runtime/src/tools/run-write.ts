import { noteSyntax } from "./check-syntax.ts";
import { diffLines } from "./diff.ts";
import { nameHere } from "./working-directory.ts";
import { rememberFile, requireSeen } from "./file-memory.ts";
import { refuseMasks, refuseMasksInCall, refusePlaceholders } from "./hidden-values.ts";
import { loadFileIfPresent, saveFile } from "./load-file.ts";
import { decodeText, encodeText, splitLines } from "./text-file.ts";
import type { ToolContext, ToolOutput } from "./tool.ts";

export type WriteInput = { file_path: string; content: string };

/** Creates a file, or replaces everything in one that was read. */
export async function runWrite(input: WriteInput, context: ToolContext): Promise<ToolOutput> {
  const { workspace, memory, standsForSecret, meetSecrets } = context;
  if (standsForSecret) refuseMasksInCall(input.file_path, standsForSecret);
  const path = await workspace.resolve(input.file_path);
  const name = nameHere(context, path);
  const before = await loadFileIfPresent(context, path);
  if (before) requireSeen(memory, path, { bytes: before.bytes, name });
  const decoded = before && decodeText(before.bytes);
  const old = before ? decoded?.text : "";
  if (old) meetSecrets?.(old);
  if (before) refusePlaceholders(input.content, { before: old ?? "", name });
  else refuseMasks(input.content, standsForSecret);

  const bytes = encodeText(input.content, decoded?.exact ? decoded.encoding : "utf-8");
  const { mtimeMs } = await saveFile(context, path, { bytes, over: before?.stat ?? null });
  rememberFile(memory, path, { bytes, mtimeMs });
  const count = splitLines(input.content).length;
  const made = `${before ? "Overwrote" : "Created"} ${name} (${count} ${count === 1 ? "line" : "lines"}).`;
  const syntax = await noteSyntax(path, input.content, old);
  return {
    content: [{ type: "text", text: syntax === "" ? made : `${made}\n${syntax}` }],
    details: { file: path, diff: old === undefined ? [] : diffLines(old, input.content), ...(!before && { created: true }) },
  };
}
