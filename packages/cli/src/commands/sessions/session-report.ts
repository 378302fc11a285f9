import type { AgentEvent, Outcome, Usage } from "@outrider/runtime";
import { priceCalls, type SessionSummary, standingEvents, validateSessionReplayLogEntries } from "@outrider/runtime/admin";
import { loadCatalogOverride } from "@outrider/runtime/host";

/** Everything `outrider sessions show` tells, as its JSON has it. */
export type SessionReport = SessionSummary & {
  file: string;
  events: number;
  /** What of the journal could not be read, in a sentence each. */
  damage: string[];
  version: string;
  models: string[];
  permissionMode: string;
  spent: Spending;
  /** The part of `spent` that was copied from the session this one comes from. */
  spentBeforeFork?: Spending;
  tools: ToolReport[];
  subagents: number;
  compactions: number;
  warnings: string[];
  turnList: TurnReport[];
  replay: ReturnType<typeof validateSessionReplayLogEntries>;
};

/** `costUsd` is null when the price of one of the models is not known; `knownUsd` counts the others. */
export type Spending = { modelCalls: number; usage: Usage; costUsd: number | null; knownUsd: number };

export type ToolReport = { name: string; calls: number; failed: number; denied: number };

export type TurnReport = {
  /** The events it goes from and to: what `--resume-session-at` takes. */
  seq: number;
  endSeq?: number;
  at: string;
  prompt: string;
  /** Absent when the turn runs, or was cut off. */
  outcome?: Outcome;
  modelCalls: number;
  toolCalls: number;
  durationMs?: number;
  /** The session went back to before it: no part of the conversation any more. */
  leftBehind?: true;
};

export async function reportSession(
  events: readonly AgentEvent[],
  { summary, file, home, damage }: { summary: SessionSummary; file: string; home: string; damage: string[] },
): Promise<SessionReport> {
  const started = events.filter((event) => event.type === "session.started");
  const calls = events
    .filter((event) => event.type === "message.ended" || event.type === "side-call.ended")
    .filter(isOwn(started[0]));
  const origin = summary.forkedFrom;
  const override = await loadCatalogOverride(home);
  const spendingOf = async (counted: typeof calls): Promise<Spending> => {
    const { usage, costUsd, knownUsd } = (await priceCalls(counted, override)).total;
    return { modelCalls: counted.length, usage, costUsd, knownUsd };
  };
  return {
    ...summary,
    file,
    events: events.length,
    damage,
    version: started.at(-1)?.version ?? "",
    models: [...new Set(calls.map(({ message: { model } }) => `${model.provider}/${model.id}`))],
    permissionMode: started.at(-1)?.permissionMode ?? "",
    spent: await spendingOf(calls),
    ...(origin && { spentBeforeFork: await spendingOf(calls.filter(({ seq }) => seq <= origin.seq)) }),
    tools: toolsIn(events),
    subagents: events.filter(({ type }) => type === "task.started").length,
    compactions: events.filter((event) => event.type === "compaction.ended" && event.result.type === "compacted").length,
    warnings: events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : [])),
    turnList: turnsIn(events),
    replay: validateSessionReplayLogEntries(events),
  };
}

/** What a session was given before it began without a count was paid by somebody else: its price, which nobody may know, is no part of the sum. */
function isOwn(start: AgentEvent | undefined): (call: AgentEvent<"message.ended" | "side-call.ended">) => boolean {
  return ({ seq, message: { usage } }) => seq > (start?.seq ?? 0) || usage.inputTokens + usage.outputTokens > 0;
}

function toolsIn(events: readonly AgentEvent[]): ToolReport[] {
  const tools = new Map<string, ToolReport>();
  for (const event of events) {
    if (event.type !== "tool.ended") continue;
    const tool = tools.get(event.name) ?? { name: event.name, calls: 0, failed: 0, denied: 0 };
    tools.set(event.name, tool);
    tool.calls++;
    if (event.status === "denied") tool.denied++;
    else if (event.status !== "ok") tool.failed++;
  }
  return [...tools.values()].sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1));
}

function turnsIn(events: readonly AgentEvent[]): TurnReport[] {
  const turns: TurnReport[] = [];
  const standing = new Set(standingEvents(events));
  for (const event of events) {
    if (event.type === "turn.started") {
      const { seq, at, input, displayInput } = event;
      const prompt = displayInput ?? promptIn(input.content);
      turns.push({ seq, at, prompt, modelCalls: 0, toolCalls: 0, ...(!standing.has(event) && { leftBehind: true }) });
    }
    const turn = turns.at(-1);
    if (!turn || event.taskId !== undefined) continue;
    if (event.type === "message.ended") turn.modelCalls++;
    if (event.type === "tool.ended") turn.toolCalls++;
    if (event.type === "turn.ended")
      Object.assign(turn, { endSeq: event.seq, outcome: event.outcome, durationMs: event.durationMs });
  }
  return turns;
}

function promptIn(content: AgentEvent<"turn.started">["input"]["content"]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("");
}
