import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";

/** A Jupyter notebook as far as it is shown and changed; everything else in the file stays as it is. */
export type Notebook = { readonly root: JsonObject; readonly cells: readonly NotebookCell[] };
export type NotebookCell = {
  /** Its own id, or `cell-N` in notebooks of an older format. */
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly outputs: readonly JsonObject[];
  readonly value: JsonObject;
};

/** Undefined for what is no notebook. */
export function parseNotebook(text: string): Notebook | undefined {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(root) || !Array.isArray(root["cells"])) return undefined;
  return { root, cells: root["cells"].filter(isJsonObject).map(toCell) };
}

function toCell(value: JsonObject, index: number): NotebookCell {
  const { id, cell_type: type, source, outputs } = value;
  return {
    id: typeof id === "string" && id !== "" ? id : `cell-${index}`,
    type: typeof type === "string" ? type : "code",
    source: textOf(source),
    outputs: Array.isArray(outputs) ? outputs.filter(isJsonObject) : [],
    value,
  };
}

/** Texts are kept as one, or as a list of lines with their ends. */
export function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map((line) => (typeof line === "string" ? line : "")).join("") : "";
}

export function toLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

export function languageOf(root: JsonObject): string {
  const { metadata } = root;
  const info = Object(Object(metadata)["language_info"])["name"] ?? Object(Object(metadata)["kernelspec"])["language"];
  return typeof info === "string" ? info : "python";
}
