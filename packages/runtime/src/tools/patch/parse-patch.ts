import { fileHeader, type Header, moveTarget } from "./patch-files.ts";

/** What a patch does with one file. Paths are as written. */
export type FilePatch =
  | { readonly type: "add"; readonly path: string; readonly lines: readonly string[] }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "update"; readonly path: string; readonly moveTo?: string | undefined; readonly hunks: readonly Hunk[] };

/** `anchors`: lines above the place, one below the other. */
export type Hunk = {
  readonly anchors: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly LineAfter[];
  /** The last of these lines is the last of the file. */
  readonly atEnd: boolean;
};

/** `stays`: which line of `before` it is. Absent: the patch brings it. */
export type LineAfter = { readonly text: string; readonly stays?: number };

export type ParsedPatch =
  | { readonly type: "patch"; readonly files: readonly FilePatch[] }
  /** What is wrong with it, for the model. */
  | { readonly type: "problem"; readonly problem: string };

const shape =
  "A patch is: *** Begin Patch, then for each file *** Update File: PATH (or Add File, Delete File) with its lines, then *** End Patch. " +
  'In an update, lines begin with " " (stays), "-" (goes) or "+" (comes), and @@ with a line of the file says where.';

/**
 * The patch language of OpenAI's models. What models get wrong and can mean only one thing is understood: missing marks, the shell around
 * it, fences, and empty lines without the space in front. One that begins and has no end may have been cut off, and is none.
 */
export function parsePatch(text: string): ParsedPatch {
  const written = text.replaceAll("\r\n", "\n").split("\n");
  if (isCut(written))
    return problem('The patch begins and does not end: it may have been cut off. Send it whole, with "*** End Patch".');
  const lines = unwrap(written);
  const files: FilePatch[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const header = fileHeader(line);
    if (!header && line.trim() === "") {
      at++;
      continue;
    }
    if (!header)
      return problem(`Line ${at + 1} of the patch, ${JSON.stringify(line.slice(0, 80))}, belongs to no file. ${shape}`);
    if (header.path === "") return problem(`A file in the patch has no path. ${shape}`);
    const end = nextFile(lines, at + 1);
    const parsed = toFilePatch(header, lines.slice(at + 1, end));
    if (typeof parsed === "string") return problem(parsed);
    files.push(parsed);
    at = end;
  }
  return files.length === 0 ? problem(`The patch names no file. ${shape}`) : { type: "patch", files };
}

function problem(words: string): ParsedPatch {
  return { type: "problem", problem: words };
}

const isMark = (line: string, word: "Begin" | "End"): boolean => new RegExp(`^\\s*\\*{3}\\s*${word} Patch\\b`, "i").test(line);

/** What closes the fence or the here-document around it is an end too. */
function isCut(lines: readonly string[]): boolean {
  const isClosed = lines.some((line, index) => isMark(line, "End") || isTail(line, index, lines));
  return !isClosed && lines.some((line) => isMark(line, "Begin"));
}

/** Without what stands around it: `apply_patch <<'EOF'`, fences, and the marks of its beginning and end. */
function unwrap(lines: readonly string[]): string[] {
  const begin = lines.findIndex((line) => isMark(line, "Begin"));
  const end = lines.findLastIndex((line) => isMark(line, "End"));
  if (begin !== -1)
    return lines.slice(begin + 1, end > begin ? end : undefined).filter((line, index, all) => !isTail(line, index, all));
  const inner = lines.slice(0, end === -1 ? undefined : end);
  const first = inner.findIndex((line) => fileHeader(line) !== undefined);
  return inner.slice(Math.max(first, 0)).filter((line, index, all) => !isTail(line, index, all));
}

/** The end of a fence or of a here-document, where the patch has no end of its own. */
function isTail(line: string, index: number, all: readonly string[]): boolean {
  return /^(?:```|EOF|PATCH)\s*$/.test(line) && all.slice(index + 1).every((rest) => rest.trim() === "");
}

function nextFile(lines: readonly string[], from: number): number {
  const found = lines.findIndex((line, index) => index >= from && fileHeader(line) !== undefined);
  return found === -1 ? lines.length : found;
}

function toFilePatch({ type, path }: Header, body: readonly string[]): FilePatch | string {
  switch (type) {
    case "delete":
      return body.some((line) => line.trim() !== "") ? `Delete File: ${path} takes no lines behind it.` : { type, path };
    case "add":
      return toAdded(path, body);
    case "update": {
      const moveTo = moveTarget(body[0] ?? "");
      const hunks = toHunks(moveTo === undefined ? body : body.slice(1), path);
      if (typeof hunks === "string") return hunks;
      if (hunks.length === 0 && moveTo === undefined) return `Update File: ${path} has no lines that change anything. ${shape}`;
      return { type, path, moveTo, hunks };
    }
  }
}

/** All lines have a plus in front; where none has one, the text was given as it is. */
function toAdded(path: string, body: readonly string[]): FilePatch | string {
  const lines = withoutEmptyEnd(body);
  const plain = lines.filter((line) => !line.startsWith("+") && line.trim() !== "");
  if (plain.length > 0 && lines.some((line) => line.startsWith("+")))
    return `In Add File: ${path} every line begins with "+"; ${JSON.stringify(plain[0]?.slice(0, 80))} does not.`;
  return { type: "add", path, lines: plain.length > 0 ? lines : lines.map((line) => line.slice(1)) };
}

function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

type OpenHunk = { anchors: string[]; before: string[]; after: LineAfter[]; atEnd: boolean };

function toHunks(body: readonly string[], path: string): Hunk[] | string {
  const hunks: OpenHunk[] = [];
  const open = (): OpenHunk => {
    const fresh: OpenHunk = { anchors: [], before: [], after: [], atEnd: false };
    hunks.push(fresh);
    return fresh;
  };
  let hunk: OpenHunk | undefined;
  for (const line of withoutEmptyEnd(body)) {
    if (line.startsWith("@@")) {
      const isFresh = !hunk || hunk.before.length + hunk.after.length > 0;
      hunk = isFresh || !hunk ? open() : hunk;
      const anchor = anchorIn(line);
      if (anchor !== "") hunk.anchors.push(anchor);
      continue;
    }
    if (/^\*{3}\s*End of File\s*$/i.test(line)) {
      if (hunk) hunk.atEnd = true;
      continue;
    }
    hunk ??= open();
    if (line.startsWith("-")) hunk.before.push(line.slice(1));
    else if (line.startsWith("+")) hunk.after.push({ text: line.slice(1) });
    else if (line.startsWith(" ") || line === "") {
      hunk.after.push({ text: line.slice(1), stays: hunk.before.length });
      hunk.before.push(line.slice(1));
    } else if (line.startsWith("\\"))
      continue; // diff's note that there is no newline at the end
    else
      return `In Update File: ${path} the line ${JSON.stringify(line.slice(0, 80))} begins with none of " ", "-", "+" and "@@". ${shape}`;
  }
  return hunks.filter(({ before, after }) => before.length + after.length > 0);
}

/** `@@ def f():`, `@@ def f(): @@` and the numbers of a unified diff, which say nothing here. */
function anchorIn(line: string): string {
  return line
    .slice(2)
    .replace(/^\s*-\d+(?:,\d+)? \+\d+(?:,\d+)? @@/, "")
    .replace(/@@\s*$/, "")
    .trim();
}
