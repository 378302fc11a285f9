import type { Admission } from "../engine/admit-prompt.ts";
import { runTurn, toOutcome, type TurnReport } from "../engine/turn.ts";
import { TurnAborted } from "../engine/turn-aborted.ts";
import type { Transcript } from "../journal/transcript.ts";
import { toSendableInput } from "../model/sendable/sendable-content.ts";
import { noUsage, type UserMessage } from "../protocol/content.ts";
import type { Emit } from "../protocol/events.ts";
import { compactCommand, runCompactTurn, toCompactCommand } from "./compact-command.ts";
import type { OpenSession } from "./create-session.ts";
import type { EventHub } from "./event-hub.ts";

export type Prompt = {
  readonly message: UserMessage;
  readonly turnId: string | undefined;
  /** Its words. */
  readonly input: string;
  /** What the user typed, for hooks. */
  readonly rawInput: string;
  /** What people are shown instead. */
  readonly displayInput: string | undefined;
};

/** `begun` is set here: SessionStart hooks have let the session begin, so SessionEnd hooks will hear of its end. */
export type Beginning = { begun: boolean; source: "startup" | "resume" };

export type PromptTurn = {
  readonly session: OpenSession;
  readonly prompt: Prompt;
  readonly turnId: string;
  readonly controller: AbortController;
  readonly transcript: Transcript;
  readonly hub: Pick<EventHub, "flush" | "congestion">;
  /** For the conversation, or for one of its subagents. */
  readonly emitFrom: (taskId?: string) => Emit;
  /** What has come in since the turn began. */
  readonly takeInput: () => UserMessage[];
  readonly beginning: Beginning;
};

export const nothingDone: TurnReport = {
  outcome: { type: "completed", text: "" },
  usage: noUsage,
  modelCalls: 0,
  modelDurationMs: 0,
};

/** A turn from the hooks that see its prompt to its last tool: all of it but the end on record. Rejects only when nothing can be stored. */
export async function runPromptTurn(turn: PromptTurn): Promise<TurnReport> {
  const { session, prompt, turnId, hub, emitFrom } = turn;
  const emit = emitFrom();
  session.deps.provider.ledger.begin();
  const keeper = session.checkpoints?.forTurn({ turnId, prompt: prompt.displayInput ?? prompt.input });
  const command = toCompactCommand(prompt.message);
  const admission = command ? undefined : await admit(turn, emit);
  const displayInput = admission?.blocked ? undefined : prompt.displayInput;
  emit({
    type: "turn.started",
    input: admission?.blocked ? admission.input : await toSendableInput(prompt.message),
    ...(displayInput !== undefined && { displayInput }),
    ...(command && { command: compactCommand.name }),
  });
  for (const note of admission?.notes ?? []) emit({ type: "input.added", input: note, origin: "hook" });
  await hub.flush();
  const report = await answer(turn, { keeper, focus: command, refusal: admission?.outcome });
  const lapse = await keeper?.end();
  if (lapse !== undefined) emit({ type: "warning.raised", message: lapse });
  await hub.flush();
  return report;
}

type Course = {
  readonly keeper: ReturnType<NonNullable<OpenSession["checkpoints"]>["forTurn"]> | undefined;
  readonly focus: ReturnType<typeof toCompactCommand>;
  readonly refusal: Admission["outcome"];
};

async function answer(turn: PromptTurn, { keeper, focus, refusal }: Course): Promise<TurnReport> {
  const { session, controller, transcript, hub, emitFrom, takeInput } = turn;
  const { signal } = controller;
  const emit = emitFrom();
  if (focus)
    return await runCompactTurn({ ...session, emit, signal, transcript, ...focus }).catch((error: unknown) => ({
      ...nothingDone,
      outcome: toOutcome(error, signal, ""),
    }));
  if (refusal) return { ...nothingDone, outcome: refusal };
  const place = {
    signal,
    flush: () => hub.flush(),
    congestion: () => hub.congestion(),
    interrupt: () => controller.abort(new TurnAborted("abort")),
  };
  const deps = {
    ...session.deps,
    ...place,
    emit,
    fit: session.compaction.fit({ emit, signal, transcript }),
    keeper,
    takeInput,
    tasks: session.subagents?.inTurn({ ...place, keeper, deps: session.deps, emitFrom }),
  };
  return await runTurn(deps, transcript.messages);
}

/** What hooks have to say to a prompt before it is taken into the record; undefined without hooks, and for subagents. */
async function admit({ session, prompt, controller, beginning }: PromptTurn, emit: Emit): Promise<Admission | undefined> {
  const { hooks, agent, request } = session.deps;
  if (!hooks || agent) return undefined;
  const { admitPrompt } = await import("../engine/admit-prompt.ts");
  const { input, rawInput } = prompt;
  const opened = beginning.begun ? undefined : { source: beginning.source, model: request.model };
  const admission = await admitPrompt({ hooks, signal: controller.signal, emit }, { input, rawInput, opened });
  beginning.begun = admission.opened;
  return admission;
}
