import { type CommandResult, type CommandSummary, parseCommand, type SystemCommand } from "../commands/command.ts";
import type { TurnReport } from "../engine/turn.ts";
import type { Transcript } from "../journal/transcript.ts";
import { addUsage, noUsage, textOf, type UserMessage } from "../protocol/content.ts";
import { toRuntimeError } from "../protocol/errors.ts";
import type { Emit } from "../protocol/events.ts";
import type { CompactionReport } from "./history.ts";
import type { SessionCompaction } from "./session-compaction.ts";

export const compactCommand = {
  name: "compact",
  description: "Summarise the conversation so far, to make room",
  argumentHint: "[what the summary should dwell on]",
} as const;

/** A host's own, and the one every session has. */
export function listCommands(own: readonly SystemCommand[] = []): CommandSummary[] {
  return [...own, compactCommand].map(({ name, description, argumentHint }) => ({
    name,
    description,
    ...(argumentHint !== undefined && { argumentHint }),
  }));
}

/** What `/compact …` asks for; undefined for every other prompt. */
export function toCompactCommand(input: UserMessage): { readonly focus: string | undefined } | undefined {
  const isText = !input.isVerbatim && input.content.every(({ type }) => type === "text");
  const command = isText ? parseCommand(textOf(input.content)) : undefined;
  return command?.name === compactCommand.name ? { focus: command.args || undefined } : undefined;
}

export type CompactTurn = {
  readonly compaction: SessionCompaction;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly transcript: Transcript;
  readonly focus: string | undefined;
};

/** A turn that asks no model but the one that summarises. Rejects when there is no summary to be had. */
export async function runCompactTurn({ compaction, emit, signal, transcript, focus }: CompactTurn): Promise<TurnReport> {
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  let preTokens = 0;
  const counted: Emit = (event) => {
    if (event.type === "compaction.started") preTokens = event.usedTokens;
    if (event.type === "side-call.ended") {
      report.usage = addUsage(report.usage, event.message.usage);
      report.modelDurationMs += event.durationMs;
    }
    emit(event);
  };
  const result = await compaction.compact({ emit: counted, signal, transcript }, focus);
  const text = describeCompaction(result && { preTokens, postTokens: result.postTokens });
  return { outcome: { type: "completed", text }, ...report };
}

/** The same for whoever runs commands; never rejects. */
export async function toCommandResult(compacting: Promise<CompactionReport | undefined>): Promise<CommandResult> {
  try {
    const report = await compacting;
    return { success: true, message: describeCompaction(report), ...(report && { data: report }) };
  } catch (error) {
    return { success: false, message: toRuntimeError(error).message };
  }
}

function describeCompaction(report: Pick<CompactionReport, "preTokens" | "postTokens"> | undefined): string {
  if (!report) return "Nothing to summarise yet";
  const tokens = (count: number): string => count.toLocaleString("en-US");
  return `Older messages gave way to a summary: about ${tokens(report.preTokens)} tokens before, ${tokens(report.postTokens)} now`;
}
