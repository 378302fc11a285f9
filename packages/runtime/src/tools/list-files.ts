import { loadRulesAbove } from "./ignore-rules.ts";
import { findRipgrep, ripgrepArguments, ripgrepUnderstands, runRipgrep } from "./ripgrep.ts";
import type { ToolContext } from "./tool.ts";
import { walkFiles } from "./walk.ts";

/** Every file below a directory that git would not ignore, hidden ones too: absolute paths in no particular order. */
export async function listFiles(root: string, context: ToolContext, options: { ripgrep: boolean }): Promise<string[]> {
  const above = await loadRulesAbove(context.workspace, root);
  const ripgrep = options.ripgrep && ripgrepUnderstands(above) ? await findRipgrep(context) : undefined;
  if (!ripgrep) return walkFiles({ workspace: context.workspace, root, above, signal: context.signal });

  const files: string[] = [];
  await runRipgrep({
    ripgrep,
    args: ripgrepArguments({ above, args: ["--files", "--null"], root }),
    separator: "\0",
    context,
    onRecord: (path) => files.push(path) > 0,
  });
  return files;
}
