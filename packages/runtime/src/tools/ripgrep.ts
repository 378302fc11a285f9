import type { RulesAbove } from "./ignore-rules.ts";
import type { ToolContext } from "./tool.ts";
import { ToolFailure } from "./tool.ts";

const timeoutMs = 120_000;
/** One record is one path, or one matching line: a longer one is not worth its memory. */
const maxRecordLength = 16 * 1024 * 1024;

/** The ripgrep that runs in this workspace: the one installed beside us, else the one on PATH, else none. Looked for once per session. */
export function findRipgrep(context: ToolContext): Promise<string | undefined> {
  return context.memory.slot("ripgrep", () => lookForRipgrep(context));
}

/**
 * What both uses of ripgrep share. No configuration file has a say, the ignore rules are those of `walkFiles`,
 * and what follows `--` is never an option.
 */
export function ripgrepArguments(options: { above: RulesAbove; args: readonly string[]; root: string }): string[] {
  return [
    "--no-config",
    "--no-messages",
    "--color=never",
    "--hidden",
    "--glob=!.git",
    "--no-ignore-dot",
    "--no-ignore-global",
    ...(options.above.inGit ? [] : ["--no-require-git", "--no-ignore-parent"]),
    ...options.args,
    "--",
    options.root,
  ];
}

/**
 * Can ripgrep apply these rules from above? Outside a repository it would look for .gitignore files up to the root of the
 * file system, where we stop at the workspace.
 */
export function ripgrepUnderstands(above: RulesAbove): boolean {
  return above.inGit || above.rules.length === 0;
}

/** Runs ripgrep and hands over its output record by record. `onRecord` answers false when it has enough. */
export async function runRipgrep(options: {
  ripgrep: string;
  args: readonly string[];
  separator: "\n" | "\0";
  context: ToolContext;
  onRecord(record: string): boolean;
}): Promise<void> {
  const { context, separator } = options;
  const enough = new AbortController();
  const decoder = new TextDecoder();
  let rest = "";
  let complaint = "";
  const result = await context.workspace.run({
    file: options.ripgrep,
    args: options.args,
    cwd: context.workspace.root,
    timeoutMs,
    signal: AbortSignal.any([context.signal, enough.signal]),
    onOutput({ stream, bytes }) {
      if (enough.signal.aborted) return;
      if (stream === "stderr") {
        if (complaint.length < 4000) complaint += Buffer.from(bytes).toString("utf8");
        return;
      }
      rest += decoder.decode(bytes, { stream: true });
      let start = 0;
      for (let end = rest.indexOf(separator); end !== -1; end = rest.indexOf(separator, start)) {
        if (!options.onRecord(rest.slice(start, end))) return enough.abort();
        start = end + 1;
      }
      rest = rest.slice(start);
      if (rest.length > maxRecordLength) {
        complaint = "a matching line is too long to show; use output_mode files_with_matches to find the file";
        enough.abort();
      }
    },
  });
  context.signal.throwIfAborted();
  if (enough.signal.aborted && complaint === "") return;
  if (result.end === "timeout")
    throw new ToolFailure(`The search took longer than ${timeoutMs / 1000} seconds. Search in a smaller directory.`);
  if (result.end === "signal") throw new ToolFailure(`The search was ended by ${result.signal}.`);
  // 0: found, 1: nothing found, 2: an error; with no word about it, only a file that could not be opened.
  const failed = result.end === "aborted" || result.exitCode > 1;
  if (failed && complaint.trim() !== "") throw new ToolFailure(`The search failed: ${inShort(complaint)}`);
}

async function lookForRipgrep(context: ToolContext): Promise<string | undefined> {
  // An optional dependency: it may be missing, or lack the binary for this platform.
  const bundled = await import("@vscode/ripgrep").then((module) => module.rgPath).catch(() => undefined);
  for (const candidate of bundled ? [bundled, "rg"] : ["rg"]) {
    if (await answers(candidate, context)) return candidate;
  }
  return undefined;
}

/** Asked, not looked at: the workspace may be another machine, or a box in which our own files are not there. */
async function answers(file: string, { workspace }: ToolContext): Promise<boolean> {
  try {
    const result = await workspace.run({ file, args: ["--version"], timeoutMs: 10_000, signal: new AbortController().signal });
    return result.end === "exit" && result.exitCode === 0;
  } catch {
    return false;
  }
}

function inShort(complaint: string): string {
  return complaint.trim().replaceAll(/^rg: /gm, "").slice(0, 1000);
}
