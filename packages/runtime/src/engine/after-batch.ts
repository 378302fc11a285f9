import type { AnsweredCall } from "../hooks/hook.ts";
import { textOf, type JsonObject, type JsonValue, type ToolResultPart } from "../protocol/content.ts";
import { apiErrorWord } from "../protocol/api-error-word.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { toHookInput } from "../tools/hook-input.ts";
import type { CallDeps } from "./deps.ts";
import { toNote } from "./hook-notes.ts";
import { type LiveCall, liveInputOf } from "./live-call.ts";
import { toMediaBlock } from "../protocol/media.ts";

/** What hooks say when all calls of one message are answered: notes for the model. A no ends the turn. */
export async function afterBatch(
  deps: CallDeps,
  calls: readonly LiveCall[],
  results: readonly ToolResultPart[],
): Promise<string[]> {
  const { hooks, signal, emit } = deps;
  if (!hooks || signal.aborted) return [];
  const answered = (): AnsweredCall[] =>
    calls.map((call, index) => {
      const { name: tool, callId } = call;
      return {
        tool,
        callId,
        server: deps.tools.get(tool)?.server,
        input: toHookInput(liveInputOf(call), deps.workspace.root),
        answer: toAnswer(results[index]?.content ?? []),
      };
    });
  const verdict = await hooks.ask("PostToolBatch", () => ({ calls: answered() }), { signal, emit });
  const refusal = verdict.decision?.effect === "deny" ? verdict.decision.reason : undefined;
  const reason = verdict.stop ?? refusal;
  if (reason !== undefined) deps.halt({ limit: "hook", reason });
  return verdict.context.map((text) => toNote("PostToolBatch", text));
}

/** As the model reads it: words, or blocks where there is more than words. */
function toAnswer(content: ToolResultPart["content"]): JsonValue {
  if (content.every(({ type }) => type === "text")) return textOf(content);
  return content.map((part): JsonObject => (part.type === "text" ? { type: "text", text: part.text } : toMediaBlock(part)));
}

/** Nobody waits for what hooks make of a failure: it is one, whatever they do. */
export function tellFailure({ hooks, agent, signal, emit }: CallDeps, outcome: Outcome): void {
  if (outcome.type !== "failed" || agent) return;
  const { error, text } = outcome;
  hooks?.tell("StopFailure", () => ({ error: apiErrorWord(error) ?? "unknown", details: error.message, text }), { signal, emit });
}
