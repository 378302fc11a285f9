import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { isTerminal } from "../../tasks/background/task-status.ts";
import type { TaskNews, TaskWait } from "../../tasks/task.ts";
import type { RunningTask } from "./process-runner.ts";

type Output = RunningTask["output"];

/** What somebody waits for, and how far they had read. */
type Awaited = {
  readonly task: () => BackgroundTaskState;
  readonly output: Output | undefined;
  readonly from: number;
  /** Calls back whenever the task has changed; the answered function ends it. */
  readonly onChange: (look: () => void) => () => void;
};

/** Waits until there is what was asked for, the task has ended, or nobody waits any longer; answers which. */
export async function awaitNews(
  { task, output, from, onChange }: Awaited,
  { until, timeoutMs, signal }: TaskWait,
): Promise<TaskNews["because"]> {
  if (until === "now") return "asked";
  const seen = new SeenLines(from);
  const isMet = async (): Promise<TaskNews["because"] | undefined> => {
    if (until === "output" && (output?.size ?? 0) > from) return "output";
    if (typeof until === "function" && output && until(await seen.next(output))) return "output";
    return isTerminal(task().status) ? "ended" : undefined;
  };
  return await new Promise((resolve, reject) => {
    const stops: (() => void)[] = [];
    const finish = (because: TaskNews["because"]): void => {
      for (const stop of stops) stop();
      resolve(because);
    };
    const look = (): void => void isMet().then((because) => because && finish(because), reject);
    const timer = setTimeout(() => finish("timeout"), timeoutMs);
    const onAbort = (): void => finish("aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    stops.push(() => clearTimeout(timer));
    stops.push(() => signal.removeEventListener("abort", onAbort));
    stops.push(onChange(look));
    if (output) stops.push(output.onGrowth(look));
    if (signal.aborted) finish("aborted");
    else look();
  });
}

const longestRest = 10_000;

/** The lines of an output from a place on, each once. */
class SeenLines {
  #from: number;
  /** A line that has not come to its end: it is looked at again with what follows. */
  #rest = "";
  #reading: Promise<readonly string[]> = Promise.resolve([]);

  constructor(from: number) {
    this.#from = from;
  }

  async next(output: Output): Promise<readonly string[]> {
    const before = this.#reading;
    this.#reading = before.then(async () => {
      const { text, next } = await output.read(this.#from, output.size - this.#from);
      this.#from = next;
      const lines = (this.#rest + text).split("\n");
      this.#rest = (lines.at(-1) ?? "").slice(-longestRest);
      return lines;
    });
    return await this.#reading;
  }
}
