import { diffLines } from "./diff.ts";
import { displayPath } from "./display-path.ts";
import { explainMissing } from "./edit-hints.ts";
import { rememberFile, requireSeen } from "./file-memory.ts";
import { explainPlaceholder, refuseMasks, refusePlaceholders } from "./hidden-values.ts";
import { loadFile, loadFileIfPresent, saveFile } from "./load-file.ts";
import { numberedLine } from "./numbered-lines.ts";
import { replaceText } from "./text-edit.ts";
import type { DecodedText } from "./text-file.ts";
import { decodeText, encodeText, splitLines } from "./text-file.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type EditInput = { file_path: string; old_string: string; new_string: string; replace_all?: boolean };

/** Replaces text in a file that was read, or creates one. */
export async function runEdit(input: EditInput, context: ToolContext): Promise<ToolOutput> {
  if (input.old_string === input.new_string)
    throw new ToolFailure("old_string and new_string are the same: there is nothing to change.");
  const path = await context.workspace.resolve(input.file_path);
  const target: Target = { path, name: displayPath(context.workspace.root, path) };
  return input.old_string === "" ? create(input, target, context) : replace(input, target, context);
}

type Target = { path: string; name: string };

async function replace(input: EditInput, { path, name }: Target, context: ToolContext): Promise<ToolOutput> {
  const { workspace, memory } = context;
  const { bytes: before } = await loadFile(workspace, path);
  requireSeen(memory, path, { bytes: before, name });
  const decoded = requireText(before, name);
  context.meetSecrets?.(decoded.text);
  refusePlaceholders(input.new_string, { before: decoded.text, name });
  const replaced = replaceText(decoded.text, {
    oldText: input.old_string,
    newText: input.new_string,
    all: input.replace_all ?? false,
  });
  if (replaced.type === "missing") throw notFound(decoded.text, input, name);
  if (replaced.type === "ambiguous") {
    throw new ToolFailure(
      `old_string is in ${name} ${replaced.lines.length} times (${linesInWords(replaced.lines)}). ` +
        "Add lines around it until it is unique, or set replace_all to change every one.",
    );
  }

  const bytes = encodeText(replaced.text, decoded.encoding);
  const { mtimeMs } = await saveFile(workspace, path, bytes);
  rememberFile(memory, path, { bytes, mtimeMs });
  const count = replaced.lines.length;
  const what = count === 1 ? "Replaced 1 occurrence" : `Replaced ${count} occurrences (${linesInWords(replaced.lines)})`;
  const around = linesAround(replaced.text, replaced.lines[0] ?? 1, splitLines(input.new_string).length);
  return {
    content: [{ type: "text", text: `${what} in ${name}.${around}` }],
    details: { file: path, diff: diffLines(decoded.text, replaced.text) },
  };
}

async function create(input: EditInput, { path, name }: Target, context: ToolContext): Promise<ToolOutput> {
  const { workspace, memory } = context;
  const before = await loadFileIfPresent(workspace, path);
  if (before && before.bytes.length > 0) {
    throw new ToolFailure(`${name} exists and is not empty. To change it, give the text to replace in old_string.`);
  }
  refuseMasks(input.new_string, context.standsForSecret);
  const bytes = encodeText(input.new_string, "utf-8");
  const { mtimeMs } = await saveFile(workspace, path, bytes);
  rememberFile(memory, path, { bytes, mtimeMs });
  const count = splitLines(input.new_string).length;
  return {
    content: [
      {
        type: "text",
        text: `${before ? "Filled the empty file" : "Created"} ${name} (${count} ${count === 1 ? "line" : "lines"}).`,
      },
    ],
    details: { file: path, diff: diffLines("", input.new_string), ...(!before && { created: true }) },
  };
}

function requireText(bytes: Uint8Array, name: string): DecodedText {
  const decoded = decodeText(bytes);
  if (!decoded) throw new ToolFailure(`${name} is a binary file; Edit changes text only.`);
  if (!decoded.exact) {
    throw new ToolFailure(
      `${name} is not valid ${decoded.encoding.toUpperCase()}, so that Edit would damage it. Change it with a program through Bash.`,
    );
  }
  return decoded;
}

function notFound(text: string, input: EditInput, name: string): ToolFailure {
  const done =
    input.new_string.length >= 10 ? replaceText(text, { oldText: input.new_string, newText: "", all: true }) : undefined;
  if (done?.type === "replaced") {
    return new ToolFailure(
      `old_string is not in ${name}, but new_string is already there (${linesInWords(done.lines)}): the change may have been made before.`,
    );
  }
  return new ToolFailure(
    `old_string is not in ${name}. ${explainPlaceholder(input.old_string) ?? explainMissing(text, input.old_string)}`,
  );
}

function linesInWords(lines: number[]): string {
  const shown = [...new Set(lines)].slice(0, 10).join(", ");
  return `${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > 10 ? " and more" : ""}`;
}

function linesAround(text: string, first: number, count: number): string {
  const lines = splitLines(text);
  const from = Math.max(1, first - 3);
  const to = Math.min(lines.length, first + Math.max(count, 1) - 1 + 3);
  const numbered = (start: number, end: number): string[] =>
    lines.slice(start - 1, end).map((line, index) => numberedLine(start + index, line));
  if (to < from) return " The file is empty now.";
  const shown = to - from < 30 ? numbered(from, to) : [...numbered(from, from + 11), "     …", ...numbered(to - 11, to)];
  return ` Now around line ${first}:\n${shown.join("\n")}`;
}
