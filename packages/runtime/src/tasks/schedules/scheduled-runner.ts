import type { BackgroundTaskResult } from "../../protocol/background-task.ts";
import type { BackgroundTaskRunner, BackgroundTaskStart, ScheduledTaskRequest } from "../background/task-contract.ts";
import { systemClock, type TaskClock } from "../background/task-watch.ts";
import { isMoment } from "./is-moment.ts";

/** One time that a schedule has come. */
export type ScheduledFiring = {
  readonly taskId: string;
  readonly request: ScheduledTaskRequest;
  /** When it was to be, in milliseconds since 1970. */
  readonly dueAt: number;
  /** How many more times were due while nobody could fire them: the machine slept, no process was there, or the last time took too long. */
  readonly missed: number;
};

export type ScheduledTaskRunnerOptions = {
  /** Does what the schedule is for. A failure ends the schedule. */
  readonly fire: (firing: ScheduledFiring) => Promise<void> | void;
  readonly clock?: TaskClock | undefined;
};

/** More are not counted: a schedule of a minute and a machine that slept for a day are enough to know. */
const maxMissed = 1_000;

/** Schedules as tasks: asleep until their time, awake while they do something, and asleep again. They end when they are cancelled. */
export function createScheduledTaskRunner({
  fire,
  clock = systemClock,
}: ScheduledTaskRunnerOptions): BackgroundTaskRunner<ScheduledTaskRequest> {
  return {
    kind: "scheduled",
    async start(task) {
      const { nextRunOf } = await import("./next-run.ts");
      const schedule = new Schedule(task, { fire, clock, nextRunOf });
      schedule.begin(); // what is no schedule is refused here
      return schedule;
    },
  };
}

type Parts = {
  readonly fire: ScheduledTaskRunnerOptions["fire"];
  readonly clock: TaskClock;
  readonly nextRunOf: (expression: string, after: number) => number | undefined;
};

class Schedule {
  readonly result: Promise<BackgroundTaskResult>;
  readonly #task: BackgroundTaskStart<ScheduledTaskRequest>;
  readonly #fire: Parts["fire"];
  readonly #clock: TaskClock;
  readonly #nextAfter: (moment: number) => number | undefined;
  #resolve: (result: BackgroundTaskResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #disarm: () => void = () => {};
  #fired = 0;
  #missed = 0;
  #isOver = false;
  #isPaused = false;
  #isFiring = false;

  constructor(task: BackgroundTaskStart<ScheduledTaskRequest>, { fire, clock, nextRunOf }: Parts) {
    this.#task = task;
    this.#fire = fire;
    this.#clock = clock;
    this.#nextAfter = (moment) => nextRunOf(task.request.cronExpression, moment);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** A time that an earlier process knew stays. What it would have fired since is counted; what comes once comes now. */
  begin(): void {
    const dueAt = Date.parse(this.#task.request.dueAt ?? "");
    if (Number.isNaN(dueAt)) return this.sleep();
    if (this.#comesOnce || dueAt > this.#clock.now()) return this.#sleepUntil(dueAt);
    this.#missed = 1 + this.#missedSince(dueAt);
    this.sleep();
  }

  /** Until the next time; a schedule that has none has ended. */
  sleep(): void {
    if (this.#isPaused) return;
    const dueAt = this.#nextAfter(this.#clock.now());
    if (dueAt === undefined) return this.#end();
    this.#sleepUntil(dueAt);
  }

  pause(): void {
    this.#isPaused = true;
    this.#disarm();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isFiring) this.sleep();
  }

  async cancel(): Promise<void> {
    this.#isOver = true;
    this.#disarm();
  }

  get #comesOnce(): boolean {
    const { recurring, cronExpression } = this.#task.request;
    return recurring === false || isMoment(cronExpression);
  }

  #sleepUntil(dueAt: number): void {
    this.#task.emit({ type: "background_task_sleeping", nextFireAt: new Date(dueAt).toISOString() });
    this.#arm(dueAt);
  }

  #arm(dueAt: number): void {
    if (this.#isPaused) return;
    // A timer may be shorter than the wait, and the clock may jump: the time is looked at when it rings.
    this.#disarm = this.#clock.after(Math.max(0, dueAt - this.#clock.now()), () => {
      if (this.#clock.now() < dueAt) this.#arm(dueAt);
      else void this.#wake(dueAt);
    });
  }

  async #wake(dueAt: number): Promise<void> {
    const { taskId, request, emit } = this.#task;
    const missed = this.#missed + this.#missedSince(dueAt);
    const firedAt = this.#clock.now();
    emit({
      type: "background_task_waking",
      ...(request.agentInstruction !== undefined && { instruction: request.agentInstruction }),
    });
    this.#isFiring = true;
    try {
      await this.#fire({ taskId, request, dueAt, missed });
    } catch (error) {
      return this.#reject(error);
    } finally {
      this.#isFiring = false;
    }
    this.#fired++;
    this.#missed = this.#missedSince(firedAt);
    if (this.#isOver) return;
    if (this.#comesOnce) return this.#end();
    this.sleep();
  }

  #missedSince(dueAt: number): number {
    const now = this.#clock.now();
    let missed = 0;
    for (let next = this.#nextAfter(dueAt); next !== undefined && next <= now && missed < maxMissed; ) {
      missed++;
      next = this.#nextAfter(next);
    }
    return missed;
  }

  #end(): void {
    this.#isOver = true;
    this.#resolve({ taskId: this.#task.taskId, kind: "scheduled", output: `It came ${this.#fired} times` });
  }
}
