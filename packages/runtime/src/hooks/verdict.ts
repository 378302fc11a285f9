import type { JsonObject, JsonValue } from "../protocol/content.ts";
import type { HookEventName } from "../protocol/events.ts";
import type { ElicitationAnswer, Hook, HookEffect, HookVerdict } from "./hook.ts";
import type { HookOutput } from "./output.ts";
import type { HookResult } from "./perform.ts";
import { defined } from "../util/defined.ts";

/** Where a block is a word to the model, every hook is heard; elsewhere the first no is the end. */
const feedback: ReadonlySet<HookEventName> = new Set<HookEventName>([
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "Stop",
  "SubagentStop",
]);

/** It has happened, or happens in any case: a no changes nothing, and the hooks after it are told all the same. */
const unstoppable: ReadonlySet<HookEventName> = new Set<HookEventName>([
  "SessionEnd",
  "StopFailure",
  "Notification",
  "PostCompact",
  "InstructionsLoaded",
  "CwdChanged",
  "WorktreeRemove",
]);

const maxContext = 10_000;
const maxReason = 8_000;
const rank: Readonly<Record<HookEffect, number>> = { allow: 0, ask: 1, defer: 2, deny: 3 };

/** What the hooks of one moment have said so far. */
export class Verdict {
  readonly #event: HookEventName;
  #decision: HookVerdict["decision"];
  #stop: string | undefined;
  #firstMessage: string | undefined;
  #interrupt = false;
  readonly #context: string[] = [];
  readonly #permissions: JsonValue[] = [];
  #updatedOutput: JsonValue | undefined;
  #answer: ElicitationAnswer | undefined;
  updatedInput: JsonObject | undefined;

  constructor(event: HookEventName) {
    this.#event = event;
  }

  /** Nothing said after this would change anything. */
  get settled(): boolean {
    if (unstoppable.has(this.#event)) return false;
    return this.#stop !== undefined || (this.#decision?.effect === "deny" && !feedback.has(this.#event));
  }

  add(hook: Hook, result: HookResult): void {
    const output = outputOf(hook, result);
    if (output.background) return;
    if (output.decision !== undefined) this.#decide(output.decision, output.reason ?? "it gave no reason");
    this.#stop ??= output.stop;
    this.#firstMessage ??= output.firstMessage;
    this.#interrupt ||= output.interrupt ?? false;
    this.updatedInput = output.updatedInput ?? this.updatedInput;
    this.#updatedOutput = output.updatedOutput ?? this.#updatedOutput;
    if (this.#answer === undefined || this.#answer.action === "accept") this.#answer = output.answer ?? this.#answer; // a no stays one
    if (output.decision === "allow") this.#permissions.push(...(output.updatedPermissions ?? []));
    if (output.context !== undefined) this.#context.push(cut(output.context, maxContext));
  }

  toHookVerdict(): HookVerdict {
    return {
      context: this.#context,
      ...defined({
        decision: this.#decision,
        stop: this.#stop,
        firstMessage: this.#firstMessage,
        updatedInput: this.updatedInput,
        updatedOutput: this.#updatedOutput,
        answer: this.#answer,
      }),
      ...(this.#permissions.length > 0 && { updatedPermissions: this.#permissions }),
      ...(this.#interrupt && { interrupt: true }),
    };
  }

  #decide(effect: HookEffect, given: string): void {
    const reason = cut(given, maxReason);
    const before = this.#decision;
    if (!before || rank[effect] > rank[before.effect]) this.#decision = { effect, reason };
    else if (effect === "deny" && before.effect === "deny") this.#decision = { effect, reason: `${before.reason}\n${reason}` };
  }
}

/** A hook that fails closed says no when it cannot say anything. A guard judges an input; one that changes it has not judged it. */
function outputOf(hook: Hook, result: HookResult): HookOutput {
  if (result.problem !== undefined) {
    if (consequenceOf(hook, result) === "continue") return {};
    if (result.status === "timeout" && hook.onFailure === "continue")
      return { decision: "deny", reason: `a hook of the host did not answer: ${result.problem}` };
    return { decision: "deny", reason: `a hook that must not fail failed: ${result.problem}` };
  }
  if (hook.guard && result.output.updatedInput)
    return { decision: "deny", reason: "a guard hook wanted to change the input, and guards only judge it" };
  return result.output;
}

/** What a hook that could not say anything does to what it was asked about. */
export function consequenceOf(hook: Hook, { status }: Pick<HookResult, "status">): Hook["onFailure"] {
  return status === "timeout" ? hook.onTimeout : hook.onFailure;
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}\n[${text.length - limit} more characters were left out]` : text;
}
