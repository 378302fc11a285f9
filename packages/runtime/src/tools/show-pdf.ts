import { pdfType } from "../protocol/media.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { sizeInWords } from "./load-file.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

/** 14 MB in base64, which is what providers take of one document. */
const maxPdfBytes = (14 * 1024 * 1024 * 3) / 4;
const mostPages = 20;
const mostCharacters = 28_000;
const timeoutMs = 60_000;

type Wanted = { readonly name: string; readonly path: string; readonly pages: string | undefined };

/** The whole document, for models that take them; or the text of some pages, by the program that most machines have for that. */
export async function showPdf(bytes: Uint8Array, wanted: Wanted, context: ToolContext): Promise<ToolOutput> {
  if (wanted.pages !== undefined) return await textOfPages(wanted.pages, wanted, context);
  if (bytes.length > maxPdfBytes)
    throw new ToolFailure(
      `${wanted.name} is a PDF of ${sizeInWords(bytes.length)}; up to 10.5 MB can be shown whole. Read some of its pages: pages "1-5".`,
    );
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return { content: [{ type: "image", mediaType: pdfType, data }] };
}

async function textOfPages(pages: string, { name, path }: Wanted, { workspace, signal }: ToolContext): Promise<ToolOutput> {
  const [, first = "", last = first] = /^\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?$/.exec(pages) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (first === "" || from < 1 || to < from)
    throw new ToolFailure(`pages is a number or a range, like 3 or 1-5, not ${JSON.stringify(pages)}.`);
  if (to - from >= mostPages)
    throw new ToolFailure(`At most ${mostPages} pages at a time; ask for ${from}-${from + mostPages - 1} first.`);
  const parts: Uint8Array[] = [];
  const words: Uint8Array[] = [];
  const result = await workspace
    .run({
      file: "pdftotext",
      args: ["-layout", "-enc", "UTF-8", "-f", String(from), "-l", String(to), "--", path, "-"],
      cwd: workspace.root,
      timeoutMs,
      signal,
      onOutput: ({ stream, bytes }) => void (stream === "stdout" ? parts : words).push(Uint8Array.from(bytes)),
    })
    .catch((error: unknown) => {
      if (error instanceof RuntimeError && error.code === "not-found") throw notInstalled(name);
      throw error;
    });
  signal.throwIfAborted();
  if (result.end !== "exit" || result.exitCode !== 0) {
    const why = Buffer.concat(words).toString("utf8").trim().split("\n")[0];
    if (result.end === "exit" && result.exitCode === 127) throw notInstalled(name);
    throw new ToolFailure(`The pages of ${name} could not be read: ${why || "pdftotext failed"}.`);
  }
  const text = Buffer.concat(parts).toString("utf8");
  const shown = text
    .split("\f")
    .slice(0, to - from + 1)
    .map((page, index) => `--- page ${from + index} ---\n${page.trimEnd()}`);
  const whole =
    text.trim() === ""
      ? `Pages ${from} to ${to} of ${name} hold no text: they may be pictures. Without pages the document is shown as it is.`
      : shown.join("\n");
  const cut =
    whole.length > mostCharacters
      ? `${whole.slice(0, mostCharacters)}\n[Cut after ${mostCharacters} characters: ask for fewer pages.]`
      : whole;
  return { content: [{ type: "text", text: cut }] };
}

function notInstalled(name: string): ToolFailure {
  return new ToolFailure(
    `Pages of ${name} cannot be taken out here: pdftotext (of poppler-utils) is not installed. Without pages the whole document is shown.`,
  );
}
