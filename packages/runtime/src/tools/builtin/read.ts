import { binaryKind, imageType } from "../file-kind.ts";
import { rememberFile } from "../file-memory.ts";
import { nameHere } from "../working-directory.ts";
import { loadFile, maxLoadedBytes, sizeInWords } from "../load-file.ts";
import { numberedLine } from "../numbered-lines.ts";
import { decodeText } from "../text-file.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";
import { defineTool, ToolFailure } from "../tool.ts";
import { readFacts } from "./facts.ts";

type ReadInput = { file_path: string; offset?: number; limit?: number };

const defaultLimit = 2000;
/** Below what the engine lets through, so that a long file ends with the number to go on from instead of a hole in the middle. */
const maxCharacters = 28_000;
/** 5 MB in base64, which is what providers take. A larger PNG is made smaller on its way into the conversation. */
const maxImageBytes = (5 * 1024 * 1024 * 3) / 4;

export const readTool: Tool = defineTool<ReadInput>({
  name: "Read",
  description:
    "Reads one file. Text comes with line numbers (number, tab, line): at most 2000 lines or about 28,000 characters at a time, " +
    "and lines over 2000 characters are cut; the answer says where to go on. PNG, JPEG, GIF and WebP images up to 3.75 MB are shown as images, larger PNGs made smaller. " +
    "Of a folder, the names in it. A file must be read before Edit or Write may change it. Use Glob to find files, Grep to search in them.",
  inputSchema: {
    type: "object",
    properties: {
      file_path: { type: "string", minLength: 1, description: "The file: absolute, or relative to the working directory." },
      offset: {
        type: "integer",
        minimum: 1,
        description: "First line to show, counted from 1. For files too long for one answer.",
      },
      limit: { type: "integer", minimum: 1, description: "How many lines to show. Default 2000." },
    },
    required: ["file_path"],
    additionalProperties: false,
  },
  concurrent: true,
  forgives: { names: { path: "file_path" }, needed: ["pages"] },
  facts: readFacts,
  placed: async (input, here) => ({ ...input, file_path: await here(input.file_path) }),
  async access(input, workspace) {
    return { kind: "look", resources: [await workspace.resolve(input.file_path)] };
  },
  async execute(input, context) {
    const { workspace, memory } = context;
    const path = await workspace.resolve(input.file_path);
    const wanted = { name: nameHere(context, path), offset: input.offset ?? 1, limit: input.limit ?? defaultLimit };
    const stat = await workspace.stat(path).catch(() => undefined);
    if (stat?.kind === "directory") return textOutput(await (await import("../show-folder.ts")).showFolder(path, context));
    if (stat?.kind === "file" && stat.size > maxLoadedBytes) return showWindow({ ...wanted, path, size: stat.size }, context);
    const { bytes, stat: loaded } = await loadFile(context, path);
    const output = (await cellsOf(bytes, { ...wanted, path }, context)) ?? show(bytes, { ...wanted, meet: context.meetSecrets });
    rememberFile(memory, path, { bytes, mtimeMs: loaded.mtimeMs });
    return output;
  },
});

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
  const { showNotebook } = await import("../show-notebook.ts");
  const content = showNotebook(text, { name: wanted.name, from: wanted.offset, count: wanted.limit });
  return content && { content };
}

/** Such a file cannot be changed with Edit or Write, so it is not remembered either. */
async function showWindow(wanted: Wanted & { path: string; size: number }, context: ToolContext): Promise<ToolOutput> {
  const { name, offset, path, limit, size } = wanted;
  const { readLineWindow } = await import("../line-window.ts");
  const { lines, more, total } = await readLineWindow({ path, offset, limit, maxCharacters }, context);
  if (lines.length === 0 && total !== undefined)
    throw new ToolFailure(`${name} has ${total} ${total === 1 ? "line" : "lines"}; line ${offset} is past its end.`);
  const last = offset + lines.length - 1;
  const where = `[Lines ${offset} to ${last} of a file of ${sizeInWords(size)} are shown.${more ? ` Go on with offset ${last + 1}, or use Grep.` : " That is its end."}]`;
  return textOutput([...lines.map((line, index) => numberedLine(offset + index, line)), where].join("\n"));
}

type Wanted = { name: string; offset: number; limit: number };

function show(bytes: Uint8Array, wanted: Wanted & { meet: ToolContext["meetSecrets"] }): ToolOutput {
  if (bytes.length === 0) return textOutput(`${wanted.name} is empty (0 bytes).`);
  const mediaType = imageType(bytes);
  if (mediaType) return showImage(bytes, mediaType, wanted.name);

  const kind = binaryKind(bytes);
  const decoded = kind ? undefined : decodeText(bytes);
  if (!decoded) {
    throw new ToolFailure(
      `${wanted.name} is ${kind ?? "a binary file"} (${sizeInWords(bytes.length)}) and cannot be shown as text.`,
    );
  }
  if (decoded.text === "") return textOutput(`${wanted.name} holds nothing but a byte order mark.`);
  wanted.meet?.(decoded.text);
  const { page, totalLines } = showPage(decoded.text, wanted);
  const details = { totalLines };
  if (decoded.exact) return { ...textOutput(page), details };
  const note = `[Some bytes are not valid ${decoded.encoding.toUpperCase()}; they are shown as \uFFFD.]`;
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

function showPage(text: string, { name, offset, limit }: Wanted): { page: string; totalLines: number } {
  const shown: string[] = [];
  let size = 0;
  let number = 0;
  let full = false;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    number++;
    if (number >= offset && !full && shown.length < limit) {
      const line = numberedLine(number, text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end));
      full = size + line.length > maxCharacters;
      if (!full) {
        shown.push(line);
        size += line.length + 1;
      }
    }
    start = end + 1;
  }
  if (offset > number)
    throw new ToolFailure(`${name} has ${number} ${number === 1 ? "line" : "lines"}; line ${offset} is past its end.`);
  const last = offset + shown.length - 1;
  if (last < number) shown.push(`[Lines ${offset} to ${last} of ${number} are shown. Go on with offset ${last + 1}.]`);
  return { page: shown.join("\n"), totalLines: number };
}

function textOutput(text: string): ToolOutput {
  return { content: [{ type: "text", text }] };
}
