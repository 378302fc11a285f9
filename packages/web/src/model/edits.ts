import { isFields, shorter } from "./describe-call.ts";
import type { DiffRow, FileEdit } from "./run-model.ts";

type ToldLine = { readonly type: "hunk" | "context" | "remove" | "add"; readonly text: string; readonly line?: number };
type ToldFile = {
  readonly file?: string;
  readonly diff?: readonly ToldLine[];
  readonly created?: boolean;
  readonly removed?: boolean;
};

const signs = { hunk: "@", context: " ", remove: "-", add: "+" } as const;

/** The edits that a tool told of itself. */
export function toldEdits(details: (ToldFile & { readonly others?: readonly ToldFile[] }) | undefined, cwd?: string): FileEdit[] {
  return [details, ...(details?.others ?? [])].flatMap((file) => {
    if (file?.file === undefined || (!file.diff && !file.created && !file.removed)) return [];
    const rows = (file.diff ?? []).map(
      ({ type, text, line }): DiffRow => ({ sign: signs[type], text, ...(line !== undefined && { line }) }),
    );
    return [toEdit(shorter(file.file, cwd), rows, { created: file.created === true, gone: file.removed === true })];
  });
}

/** Of a trajectory that tells no diffs: what the input of an editing tool says that it changes. */
export function editsInInput(input: unknown, cwd?: string): FileEdit[] {
  if (!isFields(input)) return [];
  const given = [input["file_path"], input["path"], input["filePath"]].find((value) => typeof value === "string");
  if (typeof given !== "string") return [];
  const path = shorter(given, cwd);
  const changes = Array.isArray(input["edits"]) ? input["edits"].filter(isFields) : [input];
  const rows = changes.flatMap((change, at) => {
    const [before, after] = [change["old_string"] ?? change["old_str"], change["new_string"] ?? change["new_str"]];
    if (typeof before !== "string" || typeof after !== "string") return [];
    return [...(at > 0 ? [{ sign: "@" as const, text: "" }] : []), ...replaced(before, after)];
  });
  if (rows.length > 0) return [toEdit(path, rows, {})];
  const content = input["content"] ?? input["file_text"];
  if (typeof content !== "string") return [];
  return [
    toEdit(
      path,
      linesOf(content).map((text, at) => ({ sign: "+", text, line: at + 1 })),
      {},
    ),
  ];
}

function toEdit(path: string, rows: readonly DiffRow[], { created = false, gone = false }): FileEdit {
  const count = (sign: DiffRow["sign"]): number => rows.filter((row) => row.sign === sign).length;
  return { path, rows, added: count("+"), removed: count("-"), ...(created && { created }), ...(gone && { gone }) };
}

/** Equal lines at both ends stand once; between them the old ones go and the new ones come. */
function replaced(before: string, after: string): DiffRow[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const rows = (lines: readonly string[], sign: DiffRow["sign"]): DiffRow[] => lines.map((text) => ({ sign, text }));
  return [
    ...rows(old.slice(0, start), " "),
    ...rows(old.slice(start, old.length - end), "-"),
    ...rows(now.slice(start, now.length - end), "+"),
    ...rows(end > 0 ? old.slice(-end) : [], " "),
  ];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
