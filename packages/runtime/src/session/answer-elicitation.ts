import type { Hooks, HookVerdict } from "../hooks/hook.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { Emit } from "../protocol/events.ts";

export type ServerQuestion = {
  readonly server: string;
  /** As the server sent it. */
  readonly request: JsonObject;
  /** Asks the person, or says that nobody is there. */
  readonly ask: () => Promise<JsonObject>;
  readonly signal: AbortSignal;
};

/** What a server asks a person goes to hooks first, and they have the last word on the answer. A hook that objects declines. */
export async function answerElicitation(
  hooks: Hooks | undefined,
  { server, request, ask, signal }: ServerQuestion,
  emit: Emit,
): Promise<JsonObject> {
  if (!hooks) return await ask();
  const place = { signal, emit };
  const first = await hooks.ask("Elicitation", () => ({ server, request }), place);
  const given = toAnswer(first) ?? (await ask());
  const last = await hooks.ask("ElicitationResult", () => ({ server, request, answer: given }), place);
  const answer = toAnswer(last) ?? given;
  const message = `Elicitation response for server "${server}": ${String(answer["action"])}`;
  hooks.tell("Notification", () => ({ kind: "elicitation_response", message }), place);
  return answer;
}

function toAnswer({ answer, decision, stop }: HookVerdict): JsonObject | undefined {
  if (stop !== undefined || decision?.effect === "deny") return { action: "decline" };
  return answer && { ...answer };
}
