import { dirname, isAbsolute, join } from "node:path";
import type { Workspace } from "../workspace/workspace.ts";
import { displayPath } from "./display-path.ts";
import type { ToolContext, ToolMemory } from "./tool.ts";

/**
 * The one directory that commands and paths start at. `record` is the file in which a shell that ends elsewhere leaves where that is;
 * `readAt` tells a new note from an old one.
 */
export type Place = { directory: string; record: string | undefined; readAt: number };

export function placeIn(memory: ToolMemory, workspace: Pick<Workspace, "root">): Place {
  return memory.slot("bash.cwd", (): Place => ({ directory: workspace.root, record: undefined, readAt: 0 }));
}

/** How a path is named to the model: from the working directory when it lies inside, whole otherwise. */
export function nameHere({ workspace, memory }: Pick<ToolContext, "workspace" | "memory">, path: string): string {
  return displayPath(placeIn(memory, workspace).directory, path);
}

/** Makes relative paths whole. Undefined where commands are in the root: paths start there anyway. */
export function pathsFrom(memory: ToolMemory, workspace: Workspace): ((path: string) => Promise<string>) | undefined {
  const { directory } = placeIn(memory, workspace);
  if (directory === workspace.root) return undefined;
  return async (path) => {
    if (path === "" || isAbsolute(path) || /^~(?:\/|$)|^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return path;
    const here = join(directory, path);
    const above = join(workspace.root, path);
    // Models go on to name files from where they began: what is only there is meant.
    for (const look of [(one: string) => one, dirname]) {
      const [isHere, isAbove] = await Promise.all([here, above].map((one) => isThere(workspace, look(one))));
      if (isHere) return here;
      if (isAbove) return above;
    }
    return here;
  };
}

async function isThere(workspace: Workspace, path: string): Promise<boolean> {
  return (await workspace.stat(path).catch(() => undefined)) !== undefined;
}
