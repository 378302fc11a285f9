import { join } from "node:path";
import { nameHere } from "./working-directory.ts";
import { leftOutNote } from "./left-out-note.ts";
import { comparePaths } from "./newest-first.ts";
import type { ToolContext } from "./tool.ts";
import { orToolFailure } from "./workspace-failure.ts";

const most = 500;

/** The names in a folder, folders first and with a slash; not those of files that rules protect. */
export async function showFolder(path: string, context: ToolContext): Promise<string> {
  const { workspace, mayRead } = context;
  const entries = await orToolFailure(workspace.readDirectory(path));
  const open = entries.filter(({ name, kind }) => kind === "directory" || !mayRead || mayRead(join(path, name)));
  const names = open
    .map(({ name, kind }) => (kind === "directory" ? `${name}/` : name))
    .sort((a, b) => Number(b.endsWith("/")) - Number(a.endsWith("/")) || comparePaths(a, b));
  const title = `${nameHere(context, path)} is a folder${names.length === 0 ? " with nothing in it to show" : ":"}`;
  const more = names.length > most ? [`[${most} of ${names.length} names are shown. Use Glob for the rest.]`] : [];
  return [title, ...names.slice(0, most), ...more, ...leftOutNote(entries.length - open.length)].join("\n");
}
