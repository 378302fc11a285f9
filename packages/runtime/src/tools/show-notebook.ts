import type { JsonObject } from "../protocol/content.ts";
import { languageOf, type NotebookCell, parseNotebook, textOf } from "./notebook.ts";
import { defined } from "../util/defined.ts";
import { toTerminalText } from "./terminal-text.ts";
import type { ToolOutput } from "./tool.ts";

const mostOutput = 2_000;
const mostCharacters = 28_000;
const mostImages = 10;

type Part = ToolOutput["content"][number];

/** A notebook cell by cell, with what the cells printed and drew; undefined for what is none. `from` is the first cell, counted from 1. */
export function showNotebook(
  text: string,
  { name, from, count }: { name: string; from: number; count: number },
): { readonly content: Part[]; readonly cells: JsonObject[] } | undefined {
  const notebook = parseNotebook(text);
  if (!notebook) return undefined;
  const { cells } = notebook;
  const language = languageOf(notebook.root);
  const parts: Part[] = [{ type: "text", text: `${name}: a notebook of ${cells.length} cells (${language}).` }];
  const told: JsonObject[] = [];
  let size = 0;
  let shown = 0;
  for (const [index, cell] of cells.entries()) {
    if (index + 1 < from || shown >= count) continue;
    const own = partsOf(cell, parts.filter(({ type }) => type === "image").length);
    size += own.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
    if (size > mostCharacters && shown > 0) break;
    parts.push(...own);
    told.push(toldCell(cell, language));
    shown++;
  }
  const last = from + shown - 1;
  if (last < cells.length && shown > 0)
    parts.push({ type: "text", text: `[Cells ${from} to ${last} of ${cells.length} are shown. Go on with offset ${last + 1}.]` });
  return { content: joined(parts), cells: told };
}

/** What programs are told of a cell. */
function toldCell({ id, type, source, outputs, value: { execution_count: count } }: NotebookCell, language: string): JsonObject {
  const shown = outputs.map((output) => ({
    output_type: String(output["output_type"]),
    ...defined({ text: outputText(output) || undefined }),
  }));
  return {
    ...{ cellType: type, source, cell_id: id },
    ...(type === "code" && { language, ...(typeof count === "number" && { execution_count: count }) }),
    ...(shown.length > 0 && { outputs: shown }),
  };
}

function partsOf({ id, type, source, outputs }: NotebookCell, images: number): Part[] {
  const parts: Part[] = [{ type: "text", text: `<cell id="${id}" type="${type}">\n${source}\n</cell>` }];
  let pictures = images;
  for (const output of outputs) {
    const text = outputText(output);
    if (text !== "") parts.push({ type: "text", text: `<output of="${id}">\n${text}\n</output>` });
    const image = pictures < mostImages ? imageIn(output) : undefined;
    if (image) pictures = parts.push(image) && pictures + 1;
  }
  return parts;
}

function outputText(output: JsonObject): string {
  const { output_type: type, text, data, ename, evalue, traceback } = output;
  const said =
    type === "error"
      ? [
          `${String(ename)}: ${String(evalue)}`,
          textOf(Array.isArray(traceback) ? traceback.map((line) => `${String(line)}\n`) : []),
        ].join("\n")
      : textOf(text) || textOf(Object(data)["text/plain"]);
  const plain = toTerminalText(said).trimEnd();
  return plain.length > mostOutput ? `${plain.slice(0, mostOutput)}\n… (${plain.length - mostOutput} characters more)` : plain;
}

function imageIn({ data }: JsonObject): Part | undefined {
  for (const mediaType of ["image/png", "image/jpeg"]) {
    const found = textOf(Object(data)[mediaType]).replace(/\s/g, "");
    if (found !== "") return { type: "image", mediaType, data: found };
  }
  return undefined;
}

/** Texts beside each other are one. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.type === "text" && last?.type === "text") all[all.length - 1] = { ...last, text: `${last.text}\n${part.text}` };
    else all.push(part);
  }
  return all;
}
