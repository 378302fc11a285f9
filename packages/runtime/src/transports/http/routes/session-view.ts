import type { JsonObject } from "../../../protocol/content.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import type { WaitingPrompt } from "../../../session/prompts/session-turns.ts";
import type { Client } from "../client.ts";
import type { ServedSessions } from "../served-sessions.ts";
import { defined } from "../../../util/defined.ts";

/** Keys are nobody's business but the one's who chose them. */
function promptView({ key: _, ...prompt }: WaitingPrompt): JsonObject {
  return defined(prompt) as unknown as JsonObject; // messages are JSON
}

/** A session as `GET /v1/sessions/{id}` shows it. One that is not open stays so. */
export async function sessionView(sessions: ServedSessions, client: Client, id: string): Promise<JsonObject> {
  const served = await sessions.look(client, id);
  const summary = (await sessions.list(client)).find((one) => one.id === id);
  if (!served) {
    if (!summary) throw new RuntimeError("not-found", `There is no session ${id}`);
    const { seq: storedSeq, waiting, model, permissionMode } = await sessions.stored(client, id);
    const { bytes: _, forkedFrom, ...shown } = summary;
    return {
      ...shown,
      ...defined({ forkedFrom, model, permissionMode }),
      storedSeq,
      waiting: waiting.map(promptView),
      questions: [],
    };
  }
  const { session, questions } = served;
  const { facts } = await session.controls();
  return {
    ...defined({
      createdAt: summary?.createdAt,
      updatedAt: summary?.updatedAt,
      name: session.getName(),
      prompt: summary?.prompt,
      forkedFrom: summary?.forkedFrom,
    }),
    id,
    cwd: facts.cwd,
    state: session.isExecuting() ? "working" : "open",
    storedSeq: session.storedSeq,
    turns: summary?.turns ?? 0,
    model: facts.model.id,
    permissionMode: facts.permissionMode,
    context: { ...session.getContextState() },
    waiting: session.inbox.map(promptView),
    questions: questions.all as unknown as JsonObject[], // events are JSON
  };
}
