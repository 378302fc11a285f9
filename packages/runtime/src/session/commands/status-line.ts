import type { CommandHostAdapters, StatusLine } from "../../commands/command.ts";
import type { Ledger } from "../../model/ledger.ts";
import type { AgentEvent, EventType } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";
import type { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

declare const OUTRIDER_VERSION: string;

type StatusGround = {
  readonly session: InteractiveSession<unknown>;
  readonly options: SessionOptions;
  readonly stored: <T extends EventType>(...types: readonly T[]) => Promise<readonly AgentEvent<T>[]>;
  readonly references: () => Promise<{ list(): readonly { readonly path: string; readonly status: string }[] }>;
};

/**
 * What a program shows in a status line, and where the work stands: the repository, the files that were named, what goes on beside the
 * conversation. Only what is known; nothing is concluded from it.
 */
export async function statusLine({ session, options, stored, references }: StatusGround): Promise<StatusLine> {
  const { facts, policy } = await session.controls();
  const { usedTokens, maxTokens, usedPercentage } = session.getContextState();
  const used = Math.round(usedPercentage);
  const { costUsd, usage } = await spentIn(await stored("message.ended", "side-call.ended"), options);
  const name = session.getName();
  return {
    cwd: facts.cwd,
    sessionId: session.id,
    ...defined({ name: name }),
    model: { id: facts.model.id, provider: facts.model.provider },
    workspace: {
      current: facts.cwd,
      project: options.cwd,
      added: (policy.directories ?? []).filter((path) => path !== facts.cwd),
    },
    version: OUTRIDER_VERSION,
    outputStyle: options.outputStyle?.name ?? "default",
    permissionMode: policy.mode,
    cost: { totalUsd: costUsd },
    contextWindow: {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      usedTokens,
      maxTokens,
      usedPercentage: used,
      remainingPercentage: Math.max(0, 100 - used),
    },
    repository: await repositoryOf(options.commandAdapters),
    references: (await references()).list().map(({ path, status }) => ({ path, status })),
    background: session.listBackgroundTasks().map(({ id, kind, status }) => ({ id, kind, status })),
  };
}

async function spentIn(
  calls: readonly AgentEvent<"message.ended" | "side-call.ended">[],
  { catalogOverride }: Pick<SessionOptions, "catalogOverride">,
): Promise<Ledger["total"]> {
  const { addCall, catalogOf, toPricedCall } = await import("../../model/pricing.ts");
  const { emptyLedger } = await import("../../model/ledger.ts");
  const catalog = await catalogOf(catalogOverride);
  return calls.reduce((ledger, call) => addCall(ledger, toPricedCall(catalog, call)), emptyLedger).total;
}

async function repositoryOf(adapters: CommandHostAdapters | undefined): Promise<StatusLine["repository"]> {
  return (await adapters?.repository?.()) ?? null;
}
