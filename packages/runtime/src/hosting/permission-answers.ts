import { type PermissionUpdate, parsePermissionUpdate } from "../permissions/permission-update.ts";
import type { Answer } from "../permissions/gate.ts";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { InteractiveSession } from "../session/interactive-session.ts";
import type { PermissionRequest } from "../session/session-view.ts";
import { isTooDeep, maxJsonDepth } from "../util/too-deep.ts";

/** Somebody who answers permission questions, in Claude's words: `{ behavior: "allow" | "deny", updatedInput?, message?, … }`. */
export type PermissionAnswerer = (request: PermissionRequest, signal: AbortSignal) => Promise<JsonObject>;

/** Puts every permission question of a session to somebody. Whatever goes wrong with the answer is a no. */
export function answerPermissionQuestions(
  session: InteractiveSession<unknown>,
  { answerer, turn, ...told }: { answerer: PermissionAnswerer; turn: () => AbortSignal } & Told,
): void {
  session.on("permission_request", (request) => {
    const signal = session.signalBeside(request) ?? turn();
    void toAnswer(answerer(request, signal), { session, ...told }).then((answer) => {
      try {
        session.answerPermission(request.requestId, answer);
      } catch {
        // The turn was aborted in the meantime: nobody waits for the answer.
      }
    });
  });
}

type Told = {
  readonly warn: (message: string) => void;
  /** Another mode counts now, because an answer said so. */
  readonly changed?: ((mode: PermissionMode) => void) | undefined;
};
type Asking = Told & { readonly session: InteractiveSession<unknown> };

/** What an answer changes for later calls. */
export async function updatePermissions(response: JsonObject, { session, warn, changed }: Asking): Promise<void> {
  const updates = updatesOf(response);
  if (updates.length === 0) return;
  const controls = await session.controls();
  const before = controls.facts.permissionMode;
  for (const update of updates) for (const note of await controls.updatePermissions(update)) warn(note);
  const { permissionMode } = controls.facts;
  if (permissionMode !== before) changed?.(permissionMode);
}

async function toAnswer(asked: Promise<JsonObject>, asking: Asking): Promise<Answer> {
  try {
    const response = await asked;
    if (response["behavior"] !== "allow") return refusal(response);
    if (isTooDeep(response)) throw new Error(`the answer is nested more than ${maxJsonDepth} levels deep`);
    const updatedInput = response["updatedInput"] ?? undefined;
    if (updatedInput !== undefined && !isJsonObject(updatedInput)) throw new Error('"updatedInput" of the answer is no object');
    await updatePermissions(response, asking);
    const isChanged = updatedInput !== undefined && Object.keys(updatedInput).length > 0; // as hosts say that nothing is
    return { decision: "allow", ...(isChanged && { updatedInput }) };
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
