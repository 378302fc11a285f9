import { callsOf, type Message } from "../protocol/content.ts";
import type { FactsOf } from "../protocol/tool-facts.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { filesOf } from "./kept-facts.ts";
import { firstTokens } from "./summary-steps.ts";
import { estimateText } from "./token-estimate.ts";

/** The text of a file, or nothing where it is gone, no text, too large, or may not be read. */
export type ReadText = (path: string) => Promise<string | undefined>;

export type RecentFilesOptions = {
  /** The files that only the first `replaced` messages show are read again. */
  readonly replaced: number;
  readonly maxTokens: number;
  readonly readText: ReadText;
  readonly factsOf: FactsOf;
};

const maxFiles = 5;
/** Less of a file is no help. */
const minTokens = 50;

/** The files the model was working with last, as they are now, within a limit of tokens. */
export async function rereadFiles(
  messages: readonly Message[],
  { replaced, maxTokens, readText, factsOf }: RecentFilesOptions,
): Promise<{ path: string; text: string }[]> {
  const shown = new Set(filesIn(messages.slice(replaced), factsOf));
  const paths = filesIn(messages.slice(0, replaced), factsOf).filter((path) => !shown.has(path));
  const files: { path: string; text: string }[] = [];
  let left = maxTokens;
  for (const path of paths) {
    if (files.length === maxFiles || left < minTokens) break;
    const whole = await readText(path);
    if (whole === undefined) continue;
    const text = cut(whole.replace(/<(?=\/file\b)/gi, "‹"), Math.min(left, maxTokens / 2));
    left -= estimateText(text) + estimateText(path);
    files.push({ path, text });
  }
  return files;
}

/** Newest first, each once; calls that failed say nothing about a file. */
function filesIn(messages: readonly Message[], factsOf: FactsOf): string[] {
  const failed = new Set<string>();
  for (const message of messages)
    if (message.role === "tool") for (const part of message.content) if (part.isError) failed.add(part.callId);
  const paths = messages
    .flatMap((message) => (message.role === "assistant" ? callsOf(message) : []))
    .flatMap((call) => (failed.has(call.callId) ? [] : filesOf(call, factsOf(call.name))));
  return [...new Set(paths.toReversed())];
}

function cut(text: string, tokens: number): string {
  const head = firstTokens(text, tokens - 10);
  return head.length === text.length ? text : `${head}\n[… ${text.length - head.length} characters more in the file …]`;
}

/** Reads through the workspace, and only what a call that reads would be allowed to without a question. */
export function createTextReader(
  workspace: Pick<Workspace, "resolve" | "readFile">,
  mayRead: (realPath: string) => Promise<boolean>,
): ReadText {
  return async (path) => {
    try {
      const real = await workspace.resolve(path);
      if (!(await mayRead(real))) return undefined;
      const bytes = await workspace.readFile(real, { maxBytes: 256 * 1024 });
      if (bytes.includes(0)) return undefined;
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      return undefined; // a file that cannot be shown is left out: the model can still ask for it
    }
  };
}
