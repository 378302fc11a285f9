import type { ModelRef, Usage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { digestLogs, type LogReading } from "./log-index.ts";
import { type LogPosition, scanLog } from "./recover.ts";
import { toEvent } from "./sealed-line.ts";
import type { SummariesOptions } from "./store.ts";
import { toPlace } from "./store-place.ts";
import { forkOrigin } from "./summary.ts";

/** One answer of a model: all that its price depends on. */
export type SpentCall = {
  readonly at: string;
  readonly requestedModel: string;
  readonly message: { readonly model: ModelRef; readonly usage: Usage };
};

export type SessionSpending = { readonly id: string; readonly cwd: string; readonly calls: readonly SpentCall[] };

/** Kept for each log: where it worked, up to which event it is a copy of another, and its answers. Rows are short as there are very many. */
type SpendingDraft = { cwd: string; copiedThrough: number; calls: Row[] };
type Row = [at: string, provider: string, served: string, requested: string, usage: Usage];

const indexName = "spending.json";

/**
 * What every session of a folder has asked models for, answers of subagents and side calls among them, each once: what a fork has copied
 * was paid by the session it comes from.
 */
export async function listSpending(directory: string, options: SummariesOptions = {}): Promise<SessionSpending[]> {
  const digests = await digestLogs(toPlace(directory, {}), { name: indexName, read: readOn }, options);
  return digests.map(([id, { summary }]) => ({
    id,
    cwd: summary.cwd,
    calls: summary.calls.map(([at, provider, served, requestedModel, usage]) => ({
      at,
      requestedModel,
      message: { model: { provider, id: served }, usage },
    })),
  }));
}

async function readOn({
  path,
  from,
  draft,
}: LogReading<SpendingDraft>): Promise<(LogPosition & { summary: SpendingDraft }) | undefined> {
  const summary = draft ?? { cwd: "", copiedThrough: 0, calls: [] };
  let isEmpty = draft === undefined;
  const { chain, validBytes } = await scanLog(path, from, (line) => {
    isEmpty = false;
    if (line.type === "session.started") addStart(summary, toEvent(line));
    if (line.type === "message.ended" || line.type === "side-call.ended") addAnswer(summary, toEvent(line));
  });
  return isEmpty ? undefined : { summary, chain, offset: validBytes };
}

/** What stands before the first start was taken over from elsewhere, as what a fork begins with. */
function addStart(summary: SpendingDraft, event: AgentEvent): void {
  if (event.type !== "session.started") return;
  summary.cwd = event.cwd;
  const through = forkOrigin(event)?.seq;
  if (through === undefined) return;
  summary.copiedThrough = through;
  summary.calls = [];
}

function addAnswer(summary: SpendingDraft, event: AgentEvent): void {
  if (event.type !== "message.ended" && event.type !== "side-call.ended") return;
  const { usage, model } = event.message;
  if (event.seq <= summary.copiedThrough || usage.inputTokens + usage.outputTokens === 0) return;
  summary.calls.push([event.at, model.provider, model.id, event.requestedModel, usage]);
}
