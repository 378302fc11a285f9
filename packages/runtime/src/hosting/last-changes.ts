import type { SessionStore } from "../journal/store.ts";
import type { ModelRef } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { isLooserMode, type PermissionMode } from "../protocol/permission.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { defined } from "../util/defined.ts";
import type { SessionChoice, SessionRequest } from "./session-request.ts";

/** What a session was changed to last, of what holds also when it is opened again. */
export type LastChanges = { readonly permissionMode?: PermissionMode | undefined; readonly model?: ModelRef | undefined };

/** Of the whole journal: a conversation that goes back to an earlier event keeps its mode and its model. */
export async function lastChanges(store: SessionStore, id: string): Promise<LastChanges> {
  const events = await store.read(id, { types: ["session.changed"] });
  return changesIn(events.filter((event) => event.type === "session.changed"));
}

export function changesIn(events: readonly AgentEvent<"session.changed">[]): LastChanges {
  const permissionMode = events.findLast((event) => event.permissionMode !== undefined)?.permissionMode;
  // A model that is told together with a mode is that of the mode, and nobody has chosen it.
  const model = events.findLast((event) => event.model !== undefined && event.permissionMode === undefined)?.model;
  return { permissionMode, model };
}

type Kept = {
  readonly choice: SessionChoice;
  readonly store: SessionStore | undefined;
  readonly request: Pick<SessionRequest, "keepsChanges" | "options">;
};

/** The options of a session that goes on, with what it was changed to and how it left its other machine. A copy goes on with what holds for its original now, wherever it begins. */
export async function withLastChanges(options: SessionOptions, { choice, store, request }: Kept): Promise<SessionOptions> {
  if (choice.type === "new" || !store) return options;
  const { permissionMode, model } = await lastChanges(store, choice.type === "fork" ? choice.from : choice.id);
  const { keepsChanges = [], options: said } = request;
  const isKept = keepsChanges.includes("permissionMode");
  const isUnsaid = said?.permissionMode === undefined;
  const goesOn =
    permissionMode !== undefined &&
    (isKept
      ? isPossible(permissionMode, options)
      : isUnsaid && isLooserMode(options.permissionMode ?? "default", permissionMode));
  const asksIt = keepsChanges.includes("model") && model?.provider === options.provider.name;
  return {
    ...options,
    ...(goesOn && { permissionMode }),
    ...(asksIt && { model: model.id, planModel: undefined }),
    sandboxSnapshotId: options.sandboxSnapshotId ?? (options.sandboxClient && (await keptSnapshot(choice, store))),
  };
}

/** The state in which the session left its other machine. A copy begins with a fresh one. */
async function keptSnapshot(choice: SessionChoice, store: SessionStore): Promise<string | undefined> {
  if (choice.type !== "resume") return undefined;
  const { id, at = Number.POSITIVE_INFINITY } = choice;
  const ended = (await store.read(id)).findLast(
    (event) => event.type === "session.ended" && event.seq <= at && event.sandboxSnapshotId !== undefined,
  );
  return ended?.type === "session.ended" ? ended.sandboxSnapshotId : undefined;
}

/** What somebody allowed an earlier process is not allowed to this one by that. */
function isPossible(mode: PermissionMode, { permissionMode, permissions, sandbox }: SessionOptions): boolean {
  if (mode === permissionMode) return true;
  if (mode === "bypassPermissions") return permissions?.mayBypass ?? false;
  return mode !== "sandboxed" || (sandbox !== undefined && sandbox.mode !== "off");
}

/** Puts on record in a copy that ends before them what its original was changed to. */
export async function carryChanges(choice: SessionChoice, store: SessionStore | undefined): Promise<void> {
  if (choice.type !== "fork" || choice.at === undefined || !store) return;
  const { from, id: to } = choice;
  const [original, copy] = [await lastChanges(store, from), await lastChanges(store, to)];
  const mode = original.permissionMode === copy.permissionMode ? undefined : original.permissionMode;
  const model = original.model?.id === copy.model?.id ? undefined : original.model;
  if (mode === undefined && model === undefined) return;
  const journal = await store.open(to);
  try {
    const place = { sessionId: to, at: new Date().toISOString(), type: "session.changed" } as const;
    const changes = [{ permissionMode: mode }, { model }].map(defined).filter((change) => Object.keys(change).length > 0);
    await journal.append(changes.map((change, index) => ({ ...place, ...change, seq: journal.events.lastSeq + 1 + index })));
  } finally {
    await journal.close();
  }
}
