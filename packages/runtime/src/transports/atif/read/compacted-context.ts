import type { EventBody } from "../../../protocol/events.ts";
import { defined } from "../../../util/defined.ts";
import { isRecord } from "../../../util/is-record.ts";

/** How other runtimes' summaries are introduced. */
const preface = "The conversation before this point was replaced by a summary. It is a record of what happened, not a request.";

/** A step that replaced the context, as the compaction it was: of as many messages as it says, or of all there are. */
export function toCompacted(management: unknown, { text, size }: { text: string; size: number }): EventBody<"compaction.ended"> {
  const facts = isRecord(management) ? management : {};
  const { replaced_messages: replaced, kept_prompt: prompt, trigger } = facts;
  const isCount = typeof replaced === "number" && Number.isInteger(replaced) && replaced >= 0 && replaced <= size;
  const count = isCount ? replaced : size;
  const isKept = isCount && typeof prompt === "number" && Number.isInteger(prompt) && prompt >= 0 && prompt < count;
  return {
    type: "compaction.ended",
    compactionId: "imported",
    trigger: trigger === "auto" || trigger === "overflow" ? trigger : "manual",
    preTokens: countIn(facts, "tokens_before"),
    durationMs: countIn(facts, "duration_ms"),
    result: {
      type: "compacted",
      replaced: count,
      ...(isKept && { prompt }),
      ...splitContext(text),
      postTokens: countIn(facts, "tokens_after"),
    },
  };
}

/** Our own words around a summary are taken off again; what others wrote is the summary as it stands. */
function splitContext(text: string): {
  preface: string;
  summary: string;
  kept?: string;
  skills?: { name: string; text: string }[];
  files: { path: string; text: string }[];
} {
  const parts = /^(.*?)\n\n<summary>\n(.*?)\n<\/summary>(.*)$/s.exec(text);
  if (!parts) return { preface, summary: text, files: [] };
  const [, before = "", summary = "", rest = ""] = parts;
  const kept = /^\n\n(<kept>\n.*?\n<\/kept>)/s.exec(rest)?.[1];
  const after = kept === undefined ? rest : rest.slice(kept.length + 2);
  const files = blocksIn(after, /\n\n<file path=("(?:[^"\\]|\\.)*")>\n(.*?)\n<\/file>/gs);
  const skills = blocksIn(after, /\n\n<skill name=("(?:[^"\\]|\\.)*")>\n(.*?)\n<\/skill>/gs);
  return {
    ...{ preface: before, summary, ...defined({ kept }) },
    ...(skills.length > 0 && { skills: skills.map(([name, content]) => ({ name, text: content })) }),
    files: files.map(([path, content]) => ({ path, text: content })),
  };
}

function blocksIn(text: string, pattern: RegExp): [name: string, content: string][] {
  return [...text.matchAll(pattern)].map(([, name = '""', content = ""]) => [String(JSON.parse(name)), content]);
}

function countIn(facts: Record<string, unknown>, name: string): number {
  const value = facts[name];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
