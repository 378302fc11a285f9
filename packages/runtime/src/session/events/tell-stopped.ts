import type { Emit } from "../../protocol/events.ts";
import type { Workspace } from "../../workspace/workspace.ts";

const maxShown = 5;
const maxLine = 100;

/** A session ends with everything it started; what was still at work in a workspace that is closed now is told. */
export function tellStopped(workspace: Pick<Workspace, "stopped">, emit: Emit): void {
  const lines = workspace.stopped?.() ?? [];
  if (lines.length === 0) return;
  const shown = lines.slice(0, maxShown).map((line) => (line.length > maxLine ? `${line.slice(0, maxLine)}…` : line));
  const more = lines.length > maxShown ? ` and ${lines.length - maxShown} more` : "";
  const message = `Stopped with the session, because commands had left it in the background: ${shown.join("; ")}${more}`;
  emit({ type: "warning.raised", message });
}
