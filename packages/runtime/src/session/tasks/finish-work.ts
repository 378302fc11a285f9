import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { Emit } from "../../protocol/events.ts";
import type { CancelCause } from "../../protocol/outcome.ts";
import type { BackgroundWork } from "./background-work.ts";

/** How long a session that is to end waits for its tasks, counted from when its last turn ended. */
export type WorkCeilings = {
  /** For agents, and for times the model waits for: 600,000 when absent. */
  readonly agentMs?: number | undefined;
  /** For programs, once no agent works any more: 5,000 when absent. */
  readonly processMs?: number | undefined;
};

export type FinishedWork = {
  /** What had to be stopped. */
  readonly stopped: readonly BackgroundTaskState[];
  /** Somebody did not want to wait. */
  readonly cancelled?: CancelCause | undefined;
};

export type Finishing = {
  readonly work: BackgroundWork;
  readonly ceilings: WorkCeilings;
  readonly emit: Emit;
  readonly cancelled: () => CancelCause | undefined;
};

const defaults = { agentMs: 600_000, processMs: 5_000 };

/** Waits until no task is open and no turn runs that one of them woke; at a ceiling stops what is left, and says what that was. */
export async function finishWork({ work, ceilings, emit, cancelled }: Finishing): Promise<FinishedWork> {
  const { agentMs = defaults.agentMs, processMs = defaults.processMs } = ceilings;
  let silentSince: number | undefined;
  while (true) {
    const cause = cancelled();
    if (cause) return { stopped: await stop(work, `before the wait for its tasks was over (${cause})`, emit), cancelled: cause };
    const isSilent = work.isSilent;
    const isVain = isSilent && work.isSpent;
    const awaited = (work.registry?.active ?? []).filter(isAwaited);
    const active = isVain ? awaited.filter(({ schedule }) => schedule === undefined) : awaited;
    if (isSilent && active.length === 0) {
      if (awaited.length > 0) return { stopped: await stop(work, "since nothing that comes wakes the model any more", emit) };
      tellAsleep(work, emit);
      return { stopped: [] };
    }
    silentSince = isSilent ? (silentSince ?? Date.now()) : undefined;
    const limitMs = active.some(({ kind }) => kind !== "process") ? agentMs : processMs;
    const leftMs = silentSince === undefined ? undefined : silentSince + limitMs - Date.now();
    if (leftMs !== undefined && leftMs <= 0)
      return { stopped: await stop(work, `${limitMs / 1000} s after its last answer`, emit) };
    await untilChanged(work, leftMs);
  }
}

/** A schedule that comes again and again would be waited for without end. */
function isAwaited({ status, schedule }: BackgroundTaskState): boolean {
  return schedule === undefined || (schedule.recurring === false && status !== "paused");
}

/** What comes only while somebody has the session open is not to be waited for in vain. */
function tellAsleep(work: BackgroundWork, emit: Emit): void {
  const asleep = (work.registry?.active ?? []).map(({ id, label, schedule }) => `${id} (${schedule?.cronExpression}: ${label})`);
  if (asleep.length === 0) return;
  emit({ type: "warning.raised", message: `Schedules come only while the session is open: ${asleep.join(", ")}` });
}

async function stop(work: BackgroundWork, when: string, emit: Emit): Promise<BackgroundTaskState[]> {
  const stopped = (await work.registry?.stopAll(`The run ended ${when}`)) ?? [];
  const names = stopped.map(({ id, label, commandPreview }) => `${id} (${commandPreview ?? label})`);
  if (names.length > 0) emit({ type: "warning.raised", message: `Stopped with the run, ${when}: ${names.join(", ")}` });
  return stopped;
}

async function untilChanged(work: BackgroundWork, ms: number | undefined): Promise<void> {
  const changed = work.changed();
  if (ms === undefined) return await changed;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([changed, late]);
  clearTimeout(timer);
}
