import type { CheckpointSummary } from "../../checkpoints/checkpoints.ts";
import type { RestorePlan } from "../../checkpoints/plan.ts";
import type { RestoreResult } from "../../checkpoints/restore.ts";
import type { CommandHostContext, CommandResult } from "../command.ts";

/** `/rewind`: what `outrider checkpoints` does, for the session it is typed in. */
export async function rewind({ checkpoints }: CommandHostContext, args: string): Promise<CommandResult> {
  const [action = "list", id, ...more] = args.trim().split(/\s+/).filter(Boolean);
  if (action === "list" && id === undefined) return listed(await checkpoints.list());
  if (id === undefined || more.length > 0 || !["inspect", "restore", "code", "rollback"].includes(action))
    return { success: false, message: "There is /rewind list, and inspect, restore, code and rollback with an ID" };
  if (action === "inspect") {
    const { checkpoint, restore, rollback } = await checkpoints.inspect(id);
    const lines = [describe(checkpoint), `restore: ${describePlan(restore)}`, `rollback: ${describePlan(rollback)}`];
    return { success: true, message: lines.join("\n") };
  }
  return done(action === "rollback" ? await checkpoints.rollback(id) : await checkpoints.restore(id));
}

function listed(all: readonly CheckpointSummary[]): CommandResult {
  const message = all.length === 0 ? "No prompt of this session has changed a file" : all.map(describe).join("\n");
  return { success: true, message, data: { count: all.length } };
}

function describe({ id, at, fileCount, prompt }: CheckpointSummary): string {
  return `${id} ${at} ${fileCount} files: ${(prompt ?? "").replace(/\s+/g, " ").slice(0, 80)}`;
}

function describePlan({ changes, conflicts, obstacles }: RestorePlan): string {
  const names = changes.map(({ path }) => path).join(", ") || "nothing would change";
  const hindered = [...conflicts, ...obstacles].map(({ path }) => path);
  return hindered.length === 0 ? names : `${names}; changed by others or in the way: ${hindered.join(", ")}`;
}

function done(result: RestoreResult): CommandResult {
  const files = result.plan.changes.map(({ path }) => path);
  if (result.type === "unchanged") return { success: true, message: "Nothing had to be put back" };
  if (result.type === "restored")
    return { success: true, message: `Put back: ${files.join(", ") || "nothing"}`, data: { files } };
  return { success: false, message: `Nothing was put back. ${describePlan(result.plan)}` };
}
