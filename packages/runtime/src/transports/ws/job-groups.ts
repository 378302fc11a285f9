import type { BackgroundJobGroupEvent, BackgroundJobGroupState } from "../../protocol/job-group.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";

/** The groups of background tasks of a session: what `BackgroundJobOrchestrator` offers of them. */
export interface JobGroups {
  listGroups(): readonly BackgroundJobGroupState[];
  getGroup(groupId: string): BackgroundJobGroupState | undefined;
  waitGroup(groupId: string): Promise<BackgroundJobGroupState>;
  subscribe(listener: (event: BackgroundJobGroupEvent) => void): () => void;
}

/** A session that has groups of its own; it tells of them among its events. */
interface GroupedSession {
  listBackgroundJobGroups(): readonly BackgroundJobGroupState[];
  getBackgroundJobGroup(groupId: string): BackgroundJobGroupState | undefined;
  waitBackgroundJobGroup(groupId: string): Promise<BackgroundJobGroupState>;
}

/** Those that were given, else those of the session; none where it has none. */
export function jobGroupsOf(session: InteractiveSession<unknown>, given: JobGroups | undefined): JobGroups | undefined {
  if (given) return given;
  const grouped: InteractiveSession<unknown> & Partial<GroupedSession> = session;
  if (!grouped.listBackgroundJobGroups) return undefined;
  return {
    listGroups: () => grouped.listBackgroundJobGroups?.() ?? [],
    getGroup: (groupId) => grouped.getBackgroundJobGroup?.(groupId),
    waitGroup: async (groupId) => (await grouped.waitBackgroundJobGroup?.(groupId)) as BackgroundJobGroupState, // it is there
    subscribe: () => () => {},
  };
}
