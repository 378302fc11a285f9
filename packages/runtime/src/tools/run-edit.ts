import { noteSyntax } from "./check-syntax.ts";
import { linesInWords } from "./changed-lines.ts";
import { diffLines } from "./diff.ts";
import { nameHere } from "./working-directory.ts";
import { explainMissing } from "./edit-hints.ts";
import { howSeen, rememberFile, requireSeen } from "./file-memory.ts";
import { healEdit } from "./heal-edit.ts";
import { explainPlaceholder, refuseMasks, refusePlaceholders } from "./hidden-values.ts";
import { loadFile, loadFileIfPresent, saveFile } from "./load-file.ts";
import { numberedLine } from "./numbered-lines.ts";
import { foldLineEndings, lineNumbers, replaceRanges, replaceText } from "./text-edit.ts";
import type { DecodedText } from "./text-file.ts";
import { decodeText, encodeText, nameOfEncoding, splitLines } from "./text-file.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type EditInput = Edit & { file_path: string; edits?: Edit[] };

type Edit = { old_string: string; new_string: string; replace_all?: boolean };

/** Replaces text in a file that was read, or creates one. */
export async function runEdit(input: EditInput, context: ToolContext): Promise<ToolOutput> {
  if ([input, ...(input.edits ?? [])].some((edit) => edit.old_string === edit.new_string))
    throw new ToolFailure(
      "old_string and new_string are the same: there is nothing to change. Give in new_string what is to stand there.",
    );
  const path = await context.workspace.resolve(input.file_path);
  const target: Target = { path, name: nameHere(context, path) };
  if (input.old_string !== "") return replace(input, target, context);
  if (input.edits?.length)
    throw new ToolFailure("An empty old_string creates a file, which takes no further edits: put them into new_string.");
  return create(input, target, context);
}

type Target = { path: string; name: string };

async function replace(input: EditInput, { path, name }: Target, context: ToolContext): Promise<ToolOutput> {
  const { memory } = context;
  const { bytes: before, stat } = await loadFile(context, path);
  if (howSeen(memory, path, before) === "unread")
    throw showPlace(input, { path, name, bytes: before, mtimeMs: stat.mtimeMs }, context);
  requireSeen(memory, path, { bytes: before, name });
  const decoded = requireText(before, name);
  context.meetSecrets?.(decoded.text);
  const { text, done } = makeEdits(decoded.text, [input, ...(input.edits ?? [])], name);

  const bytes = encodeText(text, decoded.encoding);
  const { mtimeMs } = await saveFile(context, path, { bytes, over: stat });
  rememberFile(memory, path, { bytes, mtimeMs });
  const syntax = await syntaxNote(path, text, decoded.text);
  return {
    content: [{ type: "text", text: [...done.map((edit) => sayDone(edit, name)), ...syntax].join("\n") }],
    details: { file: path, diff: diffLines(decoded.text, text) },
  };
}

/** An edit that was made: what the text was after it, and in which lines it is. */
type Done = { readonly edit: Edit; readonly text: string; readonly lines: number[]; readonly note?: string };

/** All of them, one after the other, or none: whatever is wrong with one is thrown. */
function makeEdits(before: string, edits: readonly Edit[], name: string): { text: string; done: Done[] } {
  const done: Done[] = [];
  let text = before;
  for (const [index, edit] of edits.entries()) {
    try {
      const made = makeEdit(text, edit, { name, before });
      done.push(made);
      text = made.text;
    } catch (error) {
      if (edits.length === 1 || !(error instanceof ToolFailure)) throw error;
      throw new ToolFailure(`Nothing was changed, because edit ${index + 1} of ${edits.length} cannot be made: ${error.message}`);
    }
  }
  return { text, done };
}

function makeEdit(text: string, edit: Edit, { name, before }: { name: string; before: string }): Done {
  const { old_string: oldText, new_string: newText, replace_all: all = false } = edit;
  if (oldText === "") throw new ToolFailure("old_string is empty: only the first edit of a call may be, to create a file.");
  refusePlaceholders(newText, { before, name });
  const replaced = replaceText(text, { oldText, newText, all });
  if (replaced.type === "ambiguous") {
    throw new ToolFailure(
      `old_string is in ${name} ${replaced.lines.length} times (${linesInWords(replaced.lines)}). ` +
        "Add lines around it until it is unique, or set replace_all to change every one.",
    );
  }
  if (replaced.type === "replaced") return { edit, text: replaced.text, lines: replaced.lines };
  const healed = all || explainPlaceholder(oldText) ? undefined : healEdit(text, { oldText, newText });
  if (!healed) throw notFound(text, edit, name);
  const lines = lineNumbers(foldLineEndings(text).text, [healed.from]);
  return { edit, text: replaceRanges(text, [healed], healed.newText), lines, note: healed.note };
}

function sayDone({ edit, text, lines, note }: Done, name: string): string {
  const what = lines.length === 1 ? "Replaced 1 occurrence" : `Replaced ${lines.length} occurrences (${linesInWords(lines)})`;
  const around = linesAround(text, lines[0] ?? 1, splitLines(edit.new_string).length);
  return `${what} in ${name}.${note ? ` ${note}` : ""}${around}`;
}

/**
 * The file was not read. Where the edit would fit, it counts as read from now on and the refusal shows the place, which saves a turn.
 * It shows only lines that the model has named itself: whether it may read the rest was not asked.
 */
function showPlace(input: EditInput, file: Target & { bytes: Uint8Array; mtimeMs: number }, context: ToolContext): ToolFailure {
  const { path, name, bytes } = file;
  const unread = new ToolFailure(`${name} has not been read in this session. Read it first, then change it.`);
  const decoded = decodeText(bytes);
  if (!decoded?.exact) return unread;
  context.meetSecrets?.(decoded.text);
  let place: Done | undefined;
  try {
    place = makeEdits(decoded.text, [input, ...(input.edits ?? [])], name).done[0];
  } catch (error) {
    if (error instanceof ToolFailure) return unread; // its words would tell what is in the file
    throw error;
  }
  if (!place) return unread;
  rememberFile(context.memory, path, file);
  const from = place.lines[0] ?? 1;
  const count = Math.min(splitLines(input.old_string).length, 30);
  const shown = splitLines(decoded.text).slice(from - 1, from - 1 + count);
  return new ToolFailure(
    `${name} has not been read in this session, so that nothing was changed. The text is there (${linesInWords(place.lines)}), and the file ` +
      `counts as read now: send the same edit again if this is the place you mean.\n` +
      shown.map((line, index) => numberedLine(from + index, line)).join("\n"),
  );
}

async function create(input: Edit, { path, name }: Target, context: ToolContext): Promise<ToolOutput> {
  const { memory } = context;
  const before = await loadFileIfPresent(context, path);
  if (before && before.bytes.length > 0) {
    throw new ToolFailure(`${name} exists and is not empty. To change it, give the text to replace in old_string.`);
  }
  refuseMasks(input.new_string, context.standsForSecret);
  const bytes = encodeText(input.new_string, "utf-8");
  const { mtimeMs } = await saveFile(context, path, { bytes, over: before?.stat ?? null });
  rememberFile(memory, path, { bytes, mtimeMs });
  const count = splitLines(input.new_string).length;
  const made = `${before ? "Filled the empty file" : "Created"} ${name} (${count} ${count === 1 ? "line" : "lines"}).`;
  return {
    content: [{ type: "text", text: [made, ...(await syntaxNote(path, input.new_string))].join("\n") }],
    details: { file: path, diff: diffLines("", input.new_string), ...(!before && { created: true }) },
  };
}

async function syntaxNote(path: string, text: string, before?: string): Promise<string[]> {
  const note = await noteSyntax(path, text, before);
  return note === "" ? [] : [note];
}

function requireText(bytes: Uint8Array, name: string): DecodedText {
  const decoded = decodeText(bytes);
  if (!decoded)
    throw new ToolFailure(`${name} is a binary file; Edit changes text only. Make it anew with the program it comes from.`);
  if (!decoded.exact) {
    throw new ToolFailure(
      `${name} is not valid ${nameOfEncoding(decoded.encoding)}, so that Edit would damage it. Change it with a program through Bash.`,
    );
  }
  return decoded;
}

function notFound(text: string, input: Edit, name: string): ToolFailure {
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
