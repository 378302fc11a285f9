import type { StoredEvents } from "../../journal/store.ts";
import type { Emit } from "../../protocol/events.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { BackgroundJobOrchestrator, type GroupedTasks } from "../../tasks/background/job-groups.ts";

export type GroupsGround = {
  readonly tasks: GroupedTasks;
  /** What the journal held when the session was opened. */
  readonly past: StoredEvents;
  readonly emit: Emit;
  readonly now: () => number;
};

const recorded = {
  background_job_group_created: "group.created",
  background_job_group_updated: "group.updated",
  background_job_group_completed: "group.ended",
} as const;

/** The groups of one session: all that happens to them is in its journal. */
export function openGroups({ tasks, past, emit, now }: GroupsGround): BackgroundJobOrchestrator {
  let number = Number(/_(\d+)$/.exec(past.last("group.created")?.group.id ?? "")?.[1] ?? 0);
  const groups = new BackgroundJobOrchestrator({ tasks, now, newId: () => `group_${++number}` });
  groups.subscribe(({ type, group }) => emit({ type: recorded[type], group }));
  return groups;
}

/** Those that were not over when the journal was written last. Pure. A copy of a session does not have the groups of the original. */
export function openGroupsOf(past: StoredEvents): BackgroundJobGroupState[] {
  const [start] = past.of("session.started");
  const lastCopied = start?.forkedFrom?.seq ?? 0;
  const latest = new Map<string, BackgroundJobGroupState>();
  for (const { seq, group } of past.of("group.created", "group.updated", "group.ended"))
    if (seq > lastCopied) latest.set(group.id, group);
  return [...latest.values()].filter(({ status }) => status === "running");
}
