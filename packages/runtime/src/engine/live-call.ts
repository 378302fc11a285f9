import { type AssistantMessage, callsOf, isJsonObject, type JsonObject, type ToolCallPart } from "../protocol/content.ts";
import type { LiveInput } from "../permissions/gate.ts";
import type { NotMasked } from "../util/masked.ts";
import type { Redactor } from "../util/redact.ts";
import { isTooDeep, toBrokenInput } from "../util/too-deep.ts";

declare const live: unique symbol;

/**
 * A call with what it really says, secrets included: as the model made it, or as a hook or a host changed it. Only such a call is
 * judged, put to hosts and hooks, and run. What is on record is none, so a mask can never be run in the place of what it hides.
 */
export type LiveCall = ToolCallPart & { readonly [live]: true };

/** The calls of an answer that has just come. One that is taken from the conversation has been masked, and is refused by its type. */
export function liveCallsOf(message: NotMasked<AssistantMessage>): LiveCall[] {
  return callsOf(message) as LiveCall[]; // one of the three places where they are made
}

/** A call that nobody but the program makes: a command that the text of a skill holds. */
export function ownCall(call: ToolCallPart): LiveCall {
  return call as LiveCall; // nothing of it was ever masked
}

/** An input that is nested too deeply is as good as a broken one: nobody has to walk through it, and a part of it is kept. */
export function boundCalls(message: AssistantMessage): AssistantMessage {
  if (!callsOf(message).some(({ input }) => isTooDeep(input))) return message;
  const content = message.content.map((part) =>
    part.type === "tool-call" && isTooDeep(part.input)
      ? {
          ...part,
          input: {},
          malformedInput: part.malformedInput ?? toBrokenInput(part.input).slice(0, maxKept),
        }
      : part,
  );
  return { ...message, content };
}

const maxKept = 2_000;

/** What hosts and hooks are shown of a call. Inputs come from JSON, and a checked one is an object. */
export function liveInputOf({ input }: LiveCall): LiveInput {
  return (isJsonObject(input) ? input : {}) as LiveInput; // it is that of a live call
}

/**
 * The same call with the input of an answer. A host that has seen the call in the record or on stdout may answer with masks:
 * they give way to what they hide. A text when nobody can say what that is.
 */
export async function changeInput(call: LiveCall, answered: JsonObject, redactor: Redactor): Promise<LiveCall | string> {
  const hidden = redactor.hidden(call.input);
  if (hidden.size === 0) return { ...call, input: answered };
  const { restoreMasked } = await import("./restore-masked.ts");
  const restored = restoreMasked(answered, call.input, { hidden, redactor });
  return typeof restored === "string" ? restored : { ...call, input: restored };
}
