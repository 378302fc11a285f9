import type { JsonObject } from "../protocol/content.ts";
import { nearest } from "../util/nearest.ts";
import { diffLines } from "./diff.ts";
import { nameHere } from "./working-directory.ts";
import { rememberFile, requireSeen } from "./file-memory.ts";
import { refuseMasksInCall, refusePlaceholders } from "./hidden-values.ts";
import { loadFile, saveFile } from "./load-file.ts";
import { languageOf, type Notebook, type NotebookCell, parseNotebook, toLines } from "./notebook.ts";
import { decodeText, encodeText } from "./text-file.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type NotebookEditInput = {
  notebook_path: string;
  cell_id?: string;
  new_source: string;
  cell_type?: "code" | "markdown";
  edit_mode?: "replace" | "insert" | "delete";
};

/** Changes one cell; the rest of the file keeps its words and its indentation. */
export async function runNotebookEdit(input: NotebookEditInput, context: ToolContext): Promise<ToolOutput> {
  const { workspace, memory, standsForSecret } = context;
  if (standsForSecret) refuseMasksInCall(input.notebook_path, standsForSecret);
  const path = await workspace.resolve(input.notebook_path);
  const name = nameHere(context, path);
  const { bytes, stat } = await loadFile(context, path);
  requireSeen(memory, path, { bytes, name });
  const decoded = decodeText(bytes);
  const notebook = decoded?.exact ? parseNotebook(decoded.text) : undefined;
  if (!decoded || !notebook) throw new ToolFailure(`${name} is no Jupyter notebook. Change it with Edit.`);
  context.meetSecrets?.(decoded.text);
  refusePlaceholders(input.new_source, { before: decoded.text, name });
  const { cells, said } = changedCells(input, notebook, name);
  const text = `${JSON.stringify({ ...notebook.root, cells }, null, indentOf(decoded.text))}${decoded.text.endsWith("\n") ? "\n" : ""}`;
  const written = encodeText(text, decoded.encoding);
  const { mtimeMs } = await saveFile(context, path, { bytes: written, over: stat });
  rememberFile(memory, path, { bytes: written, mtimeMs });
  const told = toldOf(input, notebook, path);
  return { content: [{ type: "text", text: said }], details: { file: path, diff: diffLines(decoded.text, text), told } };
}

function toldOf(
  { cell_id: id, new_source, edit_mode = "replace", cell_type }: NotebookEditInput,
  { root, cells }: Notebook,
  path: string,
): JsonObject {
  const cell = cells.find((one) => one.id === id);
  return {
    new_source,
    old_source: edit_mode === "insert" ? "" : (cell?.source ?? ""),
    cell_type: cell_type ?? cell?.type ?? "code",
    language: languageOf(root),
    edit_mode,
    ...(id !== undefined && { cell_id: id }),
    error: "",
    notebook_path: path,
  };
}

function changedCells(input: NotebookEditInput, notebook: Notebook, name: string): { cells: JsonObject[]; said: string } {
  const { edit_mode: mode = "replace", cell_id: id, new_source: source, cell_type } = input;
  const values = notebook.cells.map(({ value }) => value);
  if (mode === "insert") {
    const type = cell_type ?? "code";
    const at = id === undefined ? 0 : indexOf(id, notebook, name) + 1;
    const fresh = newCell(notebook, { type, source });
    return {
      cells: values.toSpliced(at, 0, fresh),
      said: `Inserted a ${type} cell at place ${at + 1} of ${name}${typeof fresh["id"] === "string" ? `; its id is ${fresh["id"]}` : ""}.`,
    };
  }
  if (id === undefined) throw new ToolFailure(`${mode} needs cell_id. ${idsIn(notebook)}`);
  const at = indexOf(id, notebook, name);
  if (mode === "delete") return { cells: values.toSpliced(at, 1), said: `Deleted the cell ${id} of ${name}.` };
  const cell = notebook.cells[at];
  const changed = replaced(cell?.value ?? {}, { type: cell_type ?? cell?.type ?? "code", source });
  return { cells: values.with(at, changed), said: `Replaced the source of the cell ${id} of ${name}.` };
}

function indexOf(id: string, notebook: Notebook, name: string): number {
  const at = notebook.cells.findIndex((cell) => cell.id === id);
  if (at !== -1) return at;
  const place = Number(/^cell-(\d{1,6})$/.exec(id)?.[1] ?? Number.NaN); // how others name a cell by its place
  if (place < notebook.cells.length) return place;
  const guess = nearest(
    id,
    notebook.cells.map((cell) => cell.id),
  );
  throw new ToolFailure(
    `${name} has no cell ${JSON.stringify(id)}${guess ? `; did you mean ${guess}?` : "."} ${idsIn(notebook)}`,
  );
}

function idsIn({ cells }: Notebook): string {
  const ids = cells.slice(0, 30).map(({ id }: NotebookCell) => id);
  return `The cells are: ${ids.join(", ")}${cells.length > 30 ? " and more" : ""}.`;
}

/** What a code cell printed is not what its new source prints. */
function replaced(value: JsonObject, { type, source }: { type: string; source: string }): JsonObject {
  const { outputs: _outputs, execution_count: _count, ...rest } = value;
  const code = type === "code" ? { execution_count: null, outputs: [] } : {};
  return { ...rest, ...code, cell_type: type, source: toLines(source) };
}

/** Since version 4.5 of the format cells have ids. */
function newCell({ root, cells }: Notebook, { type, source }: { type: string; source: string }): JsonObject {
  const hasIds = Number(root["nbformat"]) > 4 || (Number(root["nbformat"]) === 4 && Number(root["nbformat_minor"]) >= 5);
  const known = new Set(cells.map(({ id }) => id));
  let number = cells.length + 1;
  while (known.has(`new-${number}`)) number++;
  return replaced({ ...(hasIds && { id: `new-${number}` }), metadata: {} }, { type, source });
}

function indentOf(text: string): string | number {
  return /^\{\s*?\n([ \t]+)"/.exec(text)?.[1] ?? 1;
}
