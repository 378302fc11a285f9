import { loadRulesAbove } from "./ignore-rules.ts";
import { findRipgrep, ripgrepArguments, ripgrepRoots, ripgrepUnderstands, runRipgrep } from "./ripgrep.ts";
import type { ToolContext } from "./tool.ts";
import { walkFiles } from "./walk.ts";

/** Every file below a directory that git would not ignore, hidden ones too: absolute paths in no particular order. */
export async function listFiles(root: string, context: ToolContext, options: { ripgrep: boolean }): Promise<string[]> {
  const { workspace, signal } = context;
  const above = await loadRulesAbove(workspace, root);
  const ripgrep = options.ripgrep && ripgrepUnderstands(above) ? await findRipgrep(context) : undefined;
  const walk = (): Promise<string[]> => walkFiles({ workspace, root, above, signal });
  if (!ripgrep) return walk();

  const files: string[] = [];
  const roots = await ripgrepRoots(workspace, root);
  const isDone = await runRipgrep({
    ripgrep,
    args: ripgrepArguments({ above, args: ["--files", "--null"], roots }),
    separator: "\0",
    context,
    isStuck: async (signal) => (await import("./odd-rules.ts")).hasOddRules({ workspace, root, above, signal }),
    onRecord: (path) => files.push(path) > 0,
  });
  return isDone ? files : walk();
}

/** Every folder below a directory that git would not ignore, empty ones too. */
export async function listFolders(root: string, { workspace, signal }: ToolContext): Promise<string[]> {
  const folders: string[] = [];
  const above = await loadRulesAbove(workspace, root);
  const onDirectory = async (directory: string): Promise<void> => {
    if (directory !== root) folders.push(directory);
  };
  await walkFiles({ workspace, root, above, signal, onDirectory });
  return folders;
}
