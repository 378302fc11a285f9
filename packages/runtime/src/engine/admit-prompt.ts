import type { HookFacts, Hooks, HookVerdict, ResumedFacts, SetupTrigger } from "../hooks/hook.ts";
import { type UserMessage, userText } from "../protocol/content.ts";
import type { Emit, HookEventName } from "../protocol/events.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { toNote } from "./hook-notes.ts";
import { toOutcome } from "./turn.ts";

export type PromptToAdmit = {
  readonly input: string;
  /** What the user typed, when `input` is what was made of it. */
  readonly rawInput: string;
  /** Its own hooks have let it in before; only those of the session are asked. */
  readonly isAdmitted?: boolean | undefined;
  readonly promptId: string;
  /** Set for the first prompt since the session was opened. */
  readonly opened:
    | {
        readonly source: "startup" | "resume" | "fork" | "clear";
        readonly resumed?: ResumedFacts | undefined;
        readonly model: string;
        readonly setup?: SetupTrigger | undefined;
        readonly instructions: readonly HookFacts["InstructionsLoaded"][];
      }
    | undefined;
};

export type Admission = {
  /** What stands in the record. A prompt that is not let in is not kept: why it was blocked may be what it says. */
  readonly input: UserMessage;
  readonly blocked: boolean;
  /** What hooks add for the model to read. */
  readonly notes: readonly UserMessage[];
  /** The session has been opened as far as its hooks are concerned. */
  readonly opened: boolean;
  /** The turn is over before it began. */
  readonly outcome?: Outcome;
};

/** UserPromptExpansion, between a command that was typed and its text: an outcome ends the turn. Never rejects. */
export async function admitExpansion(
  deps: AdmitDeps,
  facts: HookFacts["UserPromptExpansion"],
  promptId: string,
): Promise<Pick<Admission, "notes" | "outcome">> {
  try {
    const verdict = await ask(deps, "UserPromptExpansion", facts, promptId);
    const refusal = refusalOf(verdict);
    if (refusal !== undefined) return { notes: [], outcome: stopped(refusal) };
    return { notes: toMessages("UserPromptExpansion", verdict.context) };
  } catch (error) {
    return { notes: [], outcome: toOutcome(error, deps.signal, "") };
  }
}

type AdmitDeps = { readonly hooks: Hooks; readonly signal: AbortSignal; readonly emit: Emit };

const blockedPrompt = "(A prompt stood here. A hook did not let it in, so it was not sent.)";

/** Setup, SessionStart and UserPromptSubmit, in this order, before a prompt is taken into the record. Never rejects. */
export async function admitPrompt(
  deps: AdmitDeps,
  { input, rawInput, isAdmitted, promptId, opened }: PromptToAdmit,
): Promise<Admission> {
  const notes: UserMessage[] = [];
  const given = userText(input);
  const isOpen = (): boolean => opened === undefined || sessionStarted;
  let sessionStarted = false;
  try {
    if (opened) {
      const { instructions, setup, ...start } = opened;
      for (const file of instructions)
        deps.hooks.tell("InstructionsLoaded", () => file, { signal: deps.signal, emit: deps.emit });
      if (setup) notes.push(...toMessages("Setup", (await ask(deps, "Setup", { trigger: setup })).context));
      const verdict = await ask(deps, "SessionStart", start);
      const refusal = refusalOf(verdict);
      if (refusal !== undefined) return { input: given, blocked: false, notes, opened: false, outcome: stopped(refusal) };
      sessionStarted = true;
      notes.push(...toMessages("SessionStart", verdict.context));
      if (verdict.firstMessage !== undefined) notes.push(userText(verdict.firstMessage));
    }
    if (isAdmitted) return { input: given, blocked: false, notes, opened: true };
    const verdict = await ask(deps, "UserPromptSubmit", { typed: rawInput, prompt: input }, promptId);
    const refusal = refusalOf(verdict);
    if (refusal !== undefined)
      return { input: userText(blockedPrompt), blocked: true, notes, opened: true, outcome: stopped(refusal) };
    notes.push(...toMessages("UserPromptSubmit", verdict.context));
    return { input: given, blocked: false, notes, opened: true };
  } catch (error) {
    return { input: given, blocked: false, notes, opened: isOpen(), outcome: toOutcome(error, deps.signal, "") };
  }
}

async function ask<E extends keyof HookFacts>(
  deps: AdmitDeps,
  event: E,
  facts: HookFacts[E],
  promptId?: string,
): Promise<HookVerdict> {
  const { hooks, signal, emit } = deps;
  signal.throwIfAborted();
  return await hooks.ask(event, () => facts, { signal, emit, promptId });
}

function refusalOf({ stop, decision }: HookVerdict): string | undefined {
  return stop ?? (decision?.effect === "deny" ? decision.reason : undefined);
}

function stopped(reason: string): Outcome {
  return { type: "stopped", limit: "hook", text: "", reason };
}

function toMessages(event: HookEventName, context: readonly string[]): UserMessage[] {
  return context.map((text) => userText(toNote(event, text)));
}
