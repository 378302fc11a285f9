import { binaryKind, imageType } from "./file-kind.ts";
import { rememberFile } from "./file-memory.ts";
import { loadFile, maxLoadedBytes, sizeInWords } from "./load-file.ts";
import { numberedLine } from "./numbered-lines.ts";
import { decodeText, nameOfEncoding } from "./text-file.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";
import { nameHere } from "./working-directory.ts";

export type ReadInput = { file_path: string; offset?: number; limit?: number; column?: number; pages?: string };

const defaultLimit = 2000;
/** Below what the engine lets through, so that a long file ends with the number to go on from instead of a hole in the middle. */
const maxCharacters = 28_000;
/** 5 MB in base64, which is what providers take. A larger PNG is made smaller on its way into the conversation. */
const maxImageBytes = (5 * 1024 * 1024 * 3) / 4;

/** Shows a file, as what it is; what was shown as text may be changed from then on. */
export async function runRead(input: ReadInput, context: ToolContext): Promise<ToolOutput> {
  const { workspace, memory } = context;
  const path = await workspace.resolve(input.file_path);
  const wanted = {
    name: nameHere(context, path),
    offset: input.offset ?? 1,
    limit: input.limit ?? defaultLimit,
    column: input.column ?? 1,
  };
  const stat = await workspace.stat(path).catch(() => undefined);
  if (stat?.kind === "directory") return textOutput(await (await import("./show-folder.ts")).showFolder(path, context));
  if (stat?.kind === "file" && stat.size > maxLoadedBytes) return showWindow({ ...wanted, path, size: stat.size }, context);
  const { bytes, stat: loaded } = await loadFile(context, path);
  const special =
    (await pdfOf(bytes, { ...wanted, path, pages: input.pages }, context)) ??
    (await cellsOf(bytes, { ...wanted, path }, context));
  const output = special ?? show(bytes, { ...wanted, meet: context.meetSecrets });
  rememberFile(memory, path, { bytes, mtimeMs: loaded.mtimeMs });
  return output;
}

/** Undefined for what is no PDF. */
async function pdfOf(
  bytes: Uint8Array,
  wanted: Wanted & { path: string; pages: string | undefined },
  context: ToolContext,
): Promise<ToolOutput | undefined> {
  const isPdf = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 5)).toString("latin1") === "%PDF-";
  if (isPdf) return (await import("./show-pdf.ts")).showPdf(bytes, wanted, context);
  if (wanted.pages !== undefined) throw new ToolFailure(`${wanted.name} is no PDF; pages are for those. Use offset and limit.`);
  return undefined;
}

/** Undefined for what is no notebook, and for a file that only has the name of one. */
async function cellsOf(
  bytes: Uint8Array,
  wanted: Wanted & { path: string },
  context: ToolContext,
): Promise<ToolOutput | undefined> {
  if (!wanted.path.endsWith(".ipynb")) return undefined;
  const text = decodeText(bytes)?.text;
  if (text === undefined) return undefined;
  context.meetSecrets?.(text);
  const { showNotebook } = await import("./show-notebook.ts");
  const shown = showNotebook(text, { name: wanted.name, from: wanted.offset, count: wanted.limit });
  if (!shown) return undefined;
  const { content, cells } = shown;
  return { content, details: { told: { type: "notebook", file: { filePath: wanted.path, cells } } } };
}

/** Such a file cannot be changed with Edit or Write, so it is not remembered either. */
async function showWindow(wanted: Wanted & { path: string; size: number }, context: ToolContext): Promise<ToolOutput> {
  const { name, offset, path, limit, size } = wanted;
  const { readLineWindow } = await import("./line-window.ts");
  const { lines, more, total } = await readLineWindow({ path, offset, limit, maxCharacters }, context);
  if (lines.length === 0 && total !== undefined) throw pastTheEnd(name, total, offset);
  const last = offset + lines.length - 1;
  const where = `[Lines ${offset} to ${last} of a file of ${sizeInWords(size)} are shown.${more ? ` Go on with offset ${last + 1}, or use Grep.` : " That is its end."}]`;
  return textOutput([...lines.map((line, index) => numberedLine(offset + index, line)), where].join("\n"));
}

type Wanted = { name: string; offset: number; limit: number; column: number };

function show(bytes: Uint8Array, wanted: Wanted & { meet: ToolContext["meetSecrets"] }): ToolOutput {
  if (bytes.length === 0) return textOutput(`${wanted.name} is empty (0 bytes).`);
  const mediaType = imageType(bytes);
  if (mediaType) return showImage(bytes, mediaType, wanted.name);

  const kind = binaryKind(bytes);
  const decoded = kind ? undefined : decodeText(bytes);
  if (!decoded) {
    throw new ToolFailure(
      `${wanted.name} is ${kind ?? "a binary file"} (${sizeInWords(bytes.length)}) and cannot be shown as text. A command such as file, strings or xxd tells what is in it.`,
    );
  }
  if (decoded.text === "") return textOutput(`${wanted.name} holds nothing but a byte order mark.`);
  wanted.meet?.(decoded.text);
  const { page, totalLines } = showPage(decoded.text, wanted);
  const details = { totalLines };
  const stored =
    decoded.encoding === "windows-1252"
      ? `\n[The file is stored as ${nameOfEncoding(decoded.encoding)}; Edit and Write keep that.]`
      : "";
  if (decoded.exact) return { ...textOutput(page + stored), details };
  const note = `[Some bytes are not valid ${nameOfEncoding(decoded.encoding)}; they are shown as \uFFFD.]`;
  return { ...textOutput(`${page}\n${note}`), details };
}

function showImage(bytes: Uint8Array, mediaType: string, name: string): ToolOutput {
  if (bytes.length > maxImageBytes && mediaType !== "image/png") {
    throw new ToolFailure(
      `${name} is an image of ${sizeInWords(bytes.length)}; images up to 3.75 MB can be shown. Make it smaller first.`,
    );
  }
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return { content: [{ type: "image", mediaType, data }] };
}

function showPage(text: string, { name, offset, limit, column }: Wanted): { page: string; totalLines: number } {
  const shown: string[] = [];
  let size = 0;
  let number = 0;
  let full = false;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    number++;
    if (number >= offset && !full && shown.length < limit) {
      const line = numberedLine(number, text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end), column);
      full = size + line.length > maxCharacters;
      if (!full) {
        shown.push(line);
        size += line.length + 1;
      }
    }
    start = end + 1;
  }
  if (offset > number) throw pastTheEnd(name, number, offset);
  const last = offset + shown.length - 1;
  if (last < number) shown.push(`[Lines ${offset} to ${last} of ${number} are shown. Go on with offset ${last + 1}.]`);
  return { page: shown.join("\n"), totalLines: number };
}

function textOutput(text: string): ToolOutput {
  return { content: [{ type: "text", text }] };
}

function pastTheEnd(name: string, lines: number, offset: number): ToolFailure {
  const count = `${lines} ${lines === 1 ? "line" : "lines"}`;
  return new ToolFailure(`${name} has ${count}; line ${offset} is past its end. Use an offset up to ${Math.max(lines, 1)}.`);
}
