import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { type UserMessage, userText } from "../../protocol/content.ts";
import type { EventBody } from "../../protocol/events.ts";
import type { RegistryOptions, TaskRegistry } from "./task-registry.ts";

export type WorkOptions = Omit<RegistryOptions, "onUntold" | "onChange" | "onDue"> & {
  /** No turn runs, and none is about to. */
  readonly isIdle: () => boolean;
  /** Begins a turn in which the model hears it; absent where it has to wait for the next prompt. */
  readonly wake: ((notice: TaskNotice) => void) | undefined;
};

/** Something the model is to hear of a task that goes on: its time has come, or it printed what was waited for. */
export type WakeUp = {
  readonly taskId: string;
  readonly text: string;
  /** A turn that runs may hear it; otherwise it begins one of its own. */
  readonly joins: boolean;
  readonly onTold: () => void;
};

export type TaskNotice = { readonly input: UserMessage; readonly tasks: string[] };

/** How often tasks that end may wake the model before somebody says something: what starts itself again and again comes to an end. */
const maxWakes = 100;

/** What a session knows of its tasks while it has none: next to nothing. The registry is loaded with the first of them. */
export class BackgroundWork {
  readonly #options: WorkOptions;
  readonly #waiting = new Set<() => void>();
  #loading: Promise<TaskRegistry> | undefined;
  #untold: BackgroundTaskState[] = [];
  /** Tasks that somebody stopped: the model hears of their end with the next prompt, and is not asked because of it. */
  readonly #hushed = new Set<string>();
  #due: WakeUp[] = [];
  /** On their way to the model. */
  #taken: WakeUp[] = [];
  #wakes = 0;
  registry: TaskRegistry | undefined;

  constructor(options: WorkOptions) {
    this.#options = options;
  }

  load(): Promise<TaskRegistry> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Takes over what an earlier process left. */
  async recover(): Promise<void> {
    const { past } = this.#options;
    if (!past.last("background.created") && !past.last("group.created")) return;
    const { hasOpenTasks } = await import("./recover-tasks.ts");
    if (hasOpenTasks(past)) await (await this.load()).recover();
  }

  /** Resolves at the next beginning or end of a task or a turn. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** A task or a turn has begun or ended, or nobody wants to wait any longer: the model is woken if it has to hear something and nothing runs. */
  change(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    const { isIdle, wake } = this.#options;
    if (isIdle()) this.#settle(this.#taken); // nobody began the turn in which the model was to hear it
    if (wake && this.#hasNews && isIdle() && this.#mayWake()) {
      const notice = this.take();
      if (notice) wake(notice);
    }
    for (const resolve of waiting) resolve();
  }

  /** Is no turn running, and will none begin by itself because of what is known now? */
  get isSilent(): boolean {
    const { isIdle, wake } = this.#options;
    return isIdle() && (!this.#hasNews || !wake || this.#wakes >= maxWakes);
  }

  /** No time that comes starts a turn any more, before somebody says something. */
  get isSpent(): boolean {
    return this.#wakes >= maxWakes;
  }

  get #hasNews(): boolean {
    return this.#untold.some(({ id }) => !this.#hushed.has(id)) || this.#due.length > 0;
  }

  #mayWake(): boolean {
    if (this.#wakes >= maxWakes) return false;
    if (++this.#wakes < maxWakes) return true;
    const message = `Tasks have woken the model ${maxWakes} times with nobody saying anything in between; it hears of further ones with the next prompt`;
    this.#options.emit({ type: "warning.raised", message });
    return true;
  }

  /** Somebody stops this task, and knows its end. */
  hush(taskId: string): void {
    this.#hushed.add(taskId);
  }

  /** Somebody said something. */
  restartCount(): void {
    this.#wakes = 0;
  }

  /** What the model is to hear. Whoever takes it tells it, and says so with `told`. */
  take(isJoining = false): TaskNotice | undefined {
    const { registry } = this;
    const untold = this.#untold.filter(({ id }) => registry?.manager.get(id)?.unread);
    const due = this.#due.filter(({ joins }) => joins || !isJoining || !this.#options.wake);
    this.#untold = [];
    this.#due = this.#due.filter((wakeUp) => !due.includes(wakeUp));
    if (!registry || untold.length + due.length === 0) return undefined;
    this.#taken.push(...due);
    const texts = [...(untold.length > 0 ? [registry.noticeOf(untold)] : []), ...due.map(({ text }) => text)];
    const tasks = new Set([...untold.map(({ id }) => id), ...due.map(({ taskId }) => taskId)]);
    return { input: userText(texts.join("\n")), tasks: [...tasks] };
  }

  /** The same for a turn that runs. */
  takeInput(): Omit<EventBody<"input.added">, "type">[] {
    const notice = this.take(true);
    if (!notice) return [];
    queueMicrotask(() => this.told(notice.tasks)); // behind the event that tells it
    return [{ ...notice, origin: "task" }];
  }

  told(tasks: readonly string[]): void {
    for (const id of tasks) this.registry?.manager.markRead(id);
    this.#settle(this.#taken.filter(({ taskId }) => tasks.includes(taskId)));
  }

  #settle(wakeUps: readonly WakeUp[]): void {
    this.#taken = this.#taken.filter((wakeUp) => !wakeUps.includes(wakeUp));
    for (const { onTold } of wakeUps) onTold();
  }

  async shutdown(reason: string): Promise<void> {
    this.#untold = [];
    this.#due = [];
    await (await this.#loading)?.shutdown(reason);
  }

  async #load(): Promise<TaskRegistry> {
    const { TaskRegistry } = await import("./task-registry.ts");
    this.registry = new TaskRegistry({
      ...this.#options,
      onUntold: (task) => this.#untold.push(task),
      onDue: (wakeUp) => {
        this.#due.push(wakeUp);
        queueMicrotask(() => this.change());
      },
      onChange: () => queueMicrotask(() => this.change()),
    });
    return this.registry;
  }
}
