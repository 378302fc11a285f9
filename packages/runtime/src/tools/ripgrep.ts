import { remedyFor } from "./search.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { isKernelTree } from "./bounded-search.ts";
import type { RulesAbove } from "./ignore-rules.ts";
import type { ToolContext } from "./tool.ts";
import { ToolFailure } from "./tool.ts";
import { orToolFailure } from "./workspace-failure.ts";

/** Its caller's limit comes first; this one is for machines that are elsewhere. */
const timeoutMs = 120_000;
/** After this silence it is looked for what ripgrep could be waiting for. */
const silenceMs = 500;
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
export function ripgrepArguments(options: { above: RulesAbove; args: readonly string[]; roots: readonly string[] }): string[] {
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
    ...options.roots,
  ];
}

/** What ripgrep is to walk. From the top of the file system it would walk into the kernel's own trees. */
export async function ripgrepRoots(workspace: Workspace, root: string): Promise<string[]> {
  if (root !== "/") return [root];
  const entries = await orToolFailure(workspace.readDirectory(root));
  return entries
    .filter(({ name, kind }) => (kind === "file" || kind === "directory") && !isKernelTree(`/${name}`))
    .map(({ name }) => `/${name}`);
}

/**
 * Can ripgrep apply these rules from above? Outside a repository it would look for .gitignore files up to the root of the
 * file system, where we stop at the workspace.
 */
export function ripgrepUnderstands(above: RulesAbove): boolean {
  return above.inGit || above.rules.length === 0;
}

/**
 * Runs ripgrep and hands over its output record by record. `onRecord` answers false when it has enough.
 * Answers false when ripgrep can never come to an end here: then the search is to be made without it.
 */
export async function runRipgrep(options: {
  ripgrep: string;
  /** Asked when nothing has been heard for a while: is there something it would wait for? */
  isStuck?(signal: AbortSignal): Promise<boolean>;
  args: readonly string[];
  separator: "\n" | "\0";
  context: ToolContext;
  onRecord(record: string): boolean;
}): Promise<boolean> {
  const { context, separator } = options;
  const enough = new AbortController();
  const watch = watchSilence(options.isStuck);
  const decoder = new TextDecoder();
  let rest = "";
  let complaint = "";
  const running = context.workspace.run({
    file: options.ripgrep,
    args: options.args,
    cwd: context.workspace.root,
    timeoutMs,
    signal: AbortSignal.any([context.signal, enough.signal, watch.stuck]),
    onOutput({ stream, bytes }) {
      if (enough.signal.aborted) return;
      watch.heard();
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
  const result = await running.finally(watch.end);
  context.signal.throwIfAborted();
  if (watch.stuck.aborted) return false;
  if (enough.signal.aborted && complaint === "") return true;
  if (result.end === "timeout") throw new ToolFailure("The search took too long. Search in a smaller directory.");
  if (result.end === "signal") throw new ToolFailure(`The search was ended by ${result.signal}.`);
  // 0: found, 1: nothing found, 2: an error; with no word about it, only a file that could not be opened.
  const failed = result.end === "aborted" || result.exitCode > 1;
  if (failed && complaint.trim() !== "") throw new ToolFailure(`The search failed: ${inShort(complaint)}${remedyFor(complaint)}`);
  return true;
}

function watchSilence(isStuck: ((signal: AbortSignal) => Promise<boolean>) | undefined) {
  const stuck = new AbortController();
  const over = new AbortController();
  const look = async (): Promise<void> => {
    if (await isStuck?.(over.signal).catch(() => false)) stuck.abort();
  };
  const timer = setTimeout(() => void look(), silenceMs);
  return {
    stuck: stuck.signal,
    heard: () => void timer.refresh(),
    end(): void {
      clearTimeout(timer);
      over.abort();
    },
  };
}

/** The one installed beside us. An optional dependency: it may be missing, or lack the binary for this platform. */
export async function bundledRipgrep(): Promise<string | undefined> {
  return await import("@vscode/ripgrep").then((module) => module.rgPath).catch(() => undefined);
}

async function lookForRipgrep(context: ToolContext): Promise<string | undefined> {
  const bundled = await bundledRipgrep();
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
