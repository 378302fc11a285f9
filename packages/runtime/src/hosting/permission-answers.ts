import { type PermissionUpdate, parsePermissionUpdate } from "../permissions/permission-update.ts";
import type { Answer } from "../permissions/gate.ts";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import type { InteractiveSession } from "../session/interactive-session.ts";
import type { PermissionRequest } from "../session/session-view.ts";
import { isTooDeep, maxJsonDepth } from "../util/too-deep.ts";
import { defined } from "../util/defined.ts";

/** Somebody who answers permission questions, in Claude's words: `{ behavior: "allow" | "deny", updatedInput?, message?, … }`. */
export type PermissionAnswerer = (request: PermissionRequest, signal: AbortSignal) => Promise<JsonObject>;

/** Puts every permission question of a session to somebody. Whatever goes wrong with the answer is a no. */
export function answerPermissionQuestions(
  session: InteractiveSession<unknown>,
  { answerer, turn, warn }: { answerer: PermissionAnswerer; turn: () => AbortSignal; warn: (message: string) => void },
): void {
  session.on("permission_request", (request) => {
    const signal = session.signalBeside(request) ?? turn();
    void toAnswer(answerer(request, signal), { session, warn }).then((answer) => {
      try {
        session.answerPermission(request.requestId, answer);
      } catch {
        // The turn was aborted in the meantime: nobody waits for the answer.
      }
    });
  });
}

type Asking = { readonly session: InteractiveSession<unknown>; readonly warn: (message: string) => void };

/** What an answer changes for later calls. */
export async function updatePermissions(response: JsonObject, { session, warn }: Asking): Promise<void> {
  for (const update of updatesOf(response))
    for (const note of await (await session.controls()).updatePermissions(update)) warn(note);
}

async function toAnswer(asked: Promise<JsonObject>, { session, warn }: Asking): Promise<Answer> {
  try {
    const response = await asked;
    if (response["behavior"] !== "allow") return refusal(response);
    if (isTooDeep(response)) throw new Error(`the answer is nested more than ${maxJsonDepth} levels deep`);
    const updatedInput = response["updatedInput"] ?? undefined;
    if (updatedInput !== undefined && !isJsonObject(updatedInput)) throw new Error('"updatedInput" of the answer is no object');
    await updatePermissions(response, { session, warn });
    return { decision: "allow", ...defined({ updatedInput }) };
  } catch (error) {
    return {
      decision: "deny",
      message: `The permission question was not answered: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function refusal({ behavior, message, interrupt }: JsonObject): Answer {
  const words = typeof message === "string" && message !== "" ? message : undefined;
  return {
    decision: "deny",
    message: words ?? (behavior === "deny" ? "The user said no." : "The answer to the permission question made no sense."),
    ...(interrupt === true && { interrupt: true }),
  };
}

function updatesOf({ updatedPermissions }: JsonObject): PermissionUpdate[] {
  return Array.isArray(updatedPermissions) ? updatedPermissions.map(parsePermissionUpdate) : [];
}
