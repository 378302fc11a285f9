import type { SessionDeps, TurnDeps } from "../../engine/deps.ts";
import { type UsedTool, useTool } from "../../engine/use-tool.ts";

/** A file, and which of its lines; all of them when absent. */
export type WantedFile = {
  readonly path: string;
  readonly lines?: { readonly offset: number; readonly limit: number } | undefined;
};

export type ReferenceGround = Pick<TurnDeps, "emit" | "flush" | "signal" | "interrupt" | "keeper"> & {
  readonly deps: SessionDeps;
};

const unread: UsedTool = { status: "error", text: "", content: [], reason: "no tool that reads files is offered here" };

/** What a file holds, or the names in a folder, as the model's own tool shows it: judged, hooked, masked and cut like a call of the model. */
export async function readFileReference({ path, lines }: WantedFile, { deps, ...turn }: ReferenceGround): Promise<UsedTool> {
  const tool = [...deps.tools.values()].find(({ facts }) => facts?.kind === "look" && facts.fields?.file !== undefined);
  const field = tool?.facts?.fields?.file;
  if (!tool || field === undefined) return unread;
  // Instructions of folders below are told with the model's own calls, whose record says that they were.
  return await useTool({ ...deps, ...turn, nested: undefined }, tool.name, { [field]: path, ...lines });
}

export function fileBlock(written: string, text: string): string {
  return `<file path=${JSON.stringify(written)}>\n${text}\n</file>`;
}
