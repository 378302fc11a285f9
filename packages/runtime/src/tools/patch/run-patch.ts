import type { ToolDetails } from "../../protocol/events.ts";
import { noteSyntax } from "../check-syntax.ts";
import { diffLines } from "../diff.ts";
import { nameHere } from "../working-directory.ts";
import { explainMissing } from "../edit-hints.ts";
import { rememberFile } from "../file-memory.ts";
import { explainPlaceholder, refuseMasks, refuseMasksInCall, refusePlaceholders } from "../hidden-values.ts";
import { loadFile, loadFileIfPresent, removeFile, saveFile } from "../load-file.ts";
import { linesInWords, linesNow } from "../changed-lines.ts";
import type { FileStat } from "../../workspace/workspace.ts";
import { decodeText, encodeText, nameOfEncoding, type TextEncoding } from "../text-file.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "../tool.ts";
import { applyHunks, type Refused } from "./apply-hunks.ts";
import { type FilePatch, parsePatch } from "./parse-patch.ts";

/** What one file becomes. `text` is undefined for one that goes. */
type Change = {
  readonly mark: "A" | "M" | "D";
  readonly path: string;
  readonly name: string;
  readonly before: string;
  readonly text: string | undefined;
  readonly encoding: TextEncoding;
  readonly lines: readonly number[];
  readonly created: boolean;
  /** The file as it is on disk before the patch; `null` where there is none. */
  readonly over: FileStat | null;
  readonly note?: string | undefined;
};

/** Works out all changes first: a patch that does not fit changes nothing. */
export async function runPatch({ input }: { readonly input: string }, context: ToolContext): Promise<ToolOutput> {
  const parsed = parsePatch(input);
  if (parsed.type === "problem") throw new ToolFailure(`Nothing was changed. ${parsed.problem}`);
  const known = new Map<string, Change>();
  for (const file of parsed.files)
    for (const change of await changesFor(file, { context, known })) known.set(change.path, change);
  const changes = [...known.values()];
  const done: Change[] = [];
  for (const change of changes) {
    try {
      await make(change, context);
    } catch (error) {
      if (!(error instanceof ToolFailure) || done.length === 0) throw error;
      throw new ToolFailure(`${error.message} Already changed: ${done.map(({ name }) => name).join(", ")}.`);
    }
    done.push(change);
  }
  const notes = await Promise.all(
    changes.map(({ path, text, before }) => (text === undefined ? "" : noteSyntax(path, text, before))),
  );
  return { content: [{ type: "text", text: report(changes, notes) }], details: detailsOf(changes) };
}

type Scene = { readonly context: ToolContext; readonly known: ReadonlyMap<string, Change> };

async function changesFor(file: FilePatch, scene: Scene): Promise<Change[]> {
  const { workspace, standsForSecret } = scene.context;
  for (const path of [file.path, ...(file.type === "update" && file.moveTo ? [file.moveTo] : [])])
    if (standsForSecret) refuseMasksInCall(path, standsForSecret);
  const path = await workspace.resolve(file.path);
  const place = { path, name: nameHere(scene.context, path) };
  switch (file.type) {
    case "add":
      return [await added(file.lines, place, scene)];
    case "delete": {
      const { text, encoding, over } = await textOf(place, scene);
      return [{ ...place, mark: "D", before: text, text: undefined, encoding, lines: [], created: false, over }];
    }
    case "update": {
      const updated = await changed(file, place, scene);
      if (file.moveTo === undefined) return [updated];
      return moved(updated, await workspace.resolve(file.moveTo), scene);
    }
  }
}

type Place = { readonly path: string; readonly name: string };

async function added(lines: readonly string[], place: Place, { context, known }: Scene): Promise<Change> {
  const earlier = known.get(place.path);
  const there = earlier ? earlier.text : await loadFileIfPresent(context, place.path);
  const isEmpty = typeof there === "string" ? there === "" : there?.bytes.length === 0;
  if (there !== undefined && !isEmpty)
    throw new ToolFailure(
      `Nothing was changed: ${place.name} exists, and Add File makes new files. Use Update File, or Delete File before it.`,
    );
  const text = lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  refuseMasks(text, context.standsForSecret);
  const mark = earlier ? "M" : "A";
  return {
    ...place,
    mark,
    before: earlier?.before ?? "",
    text,
    encoding: "utf-8",
    lines: [1],
    created: there === undefined && !earlier,
    over: earlier ? earlier.over : typeof there === "object" ? there.stat : null,
  };
}

async function changed(file: FilePatch & { type: "update" }, place: Place, scene: Scene): Promise<Change> {
  const { text, encoding, before, over } = await textOf(place, scene);
  const applied = applyHunks(text, file.hunks);
  if (applied.type !== "applied") throw new ToolFailure(`Nothing was changed: ${explain(applied, text, place.name)}`);
  refusePlaceholders(applied.text, { before: text, name: place.name });
  const note = applied.loose
    ? "White space or punctuation of the patch differs from the file; the only fitting place was taken, and new lines are indented as it is."
    : undefined;
  const known = scene.known.get(place.path);
  const { created = false, mark = "M" } = known ?? {};
  return { ...place, mark, before, text: applied.text, encoding, lines: applied.lines, created, over, note };
}

function explain(refused: Refused, text: string, name: string): string {
  const { hunk } = refused;
  switch (refused.type) {
    case "misfit": {
      const wanted = refused.wanted.join("\n");
      const what = refused.missing === "anchor" ? `the line behind @@ of hunk ${hunk}` : `the lines of hunk ${hunk}`;
      return `${what} cannot be found in ${name}. ${explainPlaceholder(wanted) ?? explainMissing(text, wanted)}`;
    }
    case "ambiguous":
      return (
        `hunk ${hunk} fits ${name} in ${refused.lines.length} places (${linesInWords(refused.lines)}). Add lines that stay above and below ` +
        "the change until only one fits, or put the function or class it is in behind @@, as in @@ def b():"
      );
    case "uneven":
      return (
        `hunk ${hunk} fits line ${refused.line} of ${name} only when white space is ignored, and how to indent its new lines cannot be told. ` +
        `Send its lines as the file has them. ${explainMissing(text, refused.wanted.join("\n"))}`
      );
  }
}

async function moved(from: Change, path: string, { context, known }: Scene): Promise<Change[]> {
  const name = nameHere(context, path);
  if (path === from.path) return [from];
  const there = known.has(path) ? known.get(path)?.text : await context.workspace.stat(path);
  if (there !== undefined) throw new ToolFailure(`Nothing was changed: ${name}, where ${from.name} should move to, exists.`);
  return [
    { ...from, mark: "D", text: undefined, lines: [], note: undefined },
    { ...from, mark: "A", path, name, before: "", created: true, over: known.get(path)?.over ?? null },
  ];
}

/** As the file is, or as an earlier part of the patch leaves it. */
async function textOf(
  { path, name }: Place,
  { context, known }: Scene,
): Promise<Pick<Change, "encoding" | "before" | "over"> & { readonly text: string }> {
  const earlier = known.get(path);
  if (earlier) {
    if (earlier.text === undefined) throw new ToolFailure(`Nothing was changed: the patch deletes ${name} and then needs it.`);
    return { text: earlier.text, encoding: earlier.encoding, before: earlier.before, over: earlier.over };
  }
  const { bytes, stat } = await loadFile(context, path);
  const decoded = decodeText(bytes);
  if (!decoded) throw new ToolFailure(`Nothing was changed: ${name} is a binary file, and a patch changes text only.`);
  if (!decoded.exact) throw new ToolFailure(`Nothing was changed: ${name} is not valid ${nameOfEncoding(decoded.encoding)}.`);
  context.meetSecrets?.(decoded.text);
  return { text: decoded.text, encoding: decoded.encoding, before: decoded.text, over: stat };
}

async function make({ path, text, encoding, over }: Change, context: ToolContext): Promise<void> {
  if (text === undefined) return await removeFile(context.workspace, path);
  const bytes = encodeText(text, encoding);
  const { mtimeMs } = await saveFile(context, path, { bytes, over });
  rememberFile(context.memory, path, { bytes, mtimeMs });
}

function report(changes: readonly Change[], notes: readonly string[]): string {
  const told = changes.map(({ mark, name, note }) => `${mark} ${name}${note ? ` (${note})` : ""}`);
  const shown = changes.flatMap(({ mark, name, text, before, lines }, index) => {
    const now = mark === "M" && text !== undefined ? linesNow({ name, before, text, lines }) : [];
    return [...now, ...(notes[index] ? [notes[index]] : [])];
  });
  return ["Done. Changed files:", ...told, ...shown].join("\n");
}

function detailsOf(changes: readonly Change[]): ToolDetails {
  const [first, ...others] = changes.map(({ path, before, text, created }) => ({
    file: path,
    diff: diffLines(before, text ?? ""),
    ...(created && { created: true }),
    ...(text === undefined && { removed: true }),
  }));
  return { ...first, ...(others.length > 0 && { others }) };
}
