import type { PermissionGate } from "../../permissions/gate.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { ExecutionWorkspaceSnapshot } from "../../tasks/background/execution-entries.ts";
import { outcomeError, type PermissionRequest, type SessionEvents, type SessionView } from "../session-view.ts";
import { changesWork } from "../tasks/task-event.ts";
import { messageOf } from "../../util/message-of.ts";
import type { EventHub } from "./event-hub.ts";
import type { Listeners } from "./listeners.ts";

export type Told = {
  readonly view: SessionView;
  readonly listeners: Listeners<SessionEvents>;
  readonly gate: PermissionGate;
  /** Does anybody read the event itself? */
  readonly isRead: (event: AgentEvent) => boolean;
  readonly openPermission: (event: AgentEvent<"permission.requested">) => PermissionRequest | undefined;
  readonly snapshot: () => ExecutionWorkspaceSnapshot;
};

/** The view follows an event, and listeners hear what it means to them. */
export function tellListeners(event: AgentEvent, { view, listeners, gate, isRead, openPermission, snapshot }: Told): void {
  view.apply(event, (name, ...args) => listeners.notify(name, ...args));
  if (changesWork(event) && listeners.has("execution_workspace_event")) listeners.notify("execution_workspace_event", snapshot());
  if (event.type !== "permission.requested") return;
  const request = openPermission(event); // the event is for those who watch; whoever answers is asked about the real call
  if (!request) return;
  const giveUp = (why: string): void => gate.giveUp(request.requestId, why);
  if (listeners.has("permission_request"))
    listeners.ask("permission_request", [request], (error) =>
      giveUp(`the listener that was asked has thrown: ${messageOf(error)}`),
    );
  else if (!isRead(event)) giveUp("nobody listens to permission_request or reads the events");
}

/** A turn that never began has no event of its end. */
export function tellCancelledEarly({ view, listeners }: Told): void {
  const { contextState } = view;
  listeners.notify("interrupted", { response: "", history: [...view.history], toolSummaries: [], contextState });
}

/** Nothing can be stored any more, or nothing could be opened: readers and listeners hear it, and the outcome says it. */
export function tellUnrecordable(
  thrown: unknown,
  text: string,
  { hub, listeners }: { readonly hub: EventHub; readonly listeners: Listeners<SessionEvents> },
): Outcome {
  const outcome: Outcome = { type: "failed", error: toRuntimeError(thrown).toJSON(), text };
  hub.fail(thrown);
  listeners.notify("thinking", false);
  listeners.notify("error", outcomeError(outcome));
  return outcome;
}
