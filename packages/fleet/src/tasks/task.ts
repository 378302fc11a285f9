import { type JsonObject, RuntimeError } from "@outrider/runtime";

/** One line of a tasks file: what is to be done, with what, and how it is judged. Paths start at the folder of the file. */
export type BatchTask = {
  readonly id: string;
  readonly prompt: string;
  /** The folder to work in; that of the tasks file when absent. With `git`, a folder inside the checkout. */
  readonly cwd?: string | undefined;
  /** A checkout of its own for the task: a repository (a path or an address) at a commit. */
  readonly git?: { readonly repository: string; readonly commit: string } | undefined;
  /** A folder of its own for the task, with a copy of what is in this one. */
  readonly seed?: string | undefined;
  readonly provider?: string | undefined;
  /** One model, or several: the task is run with each of them. */
  readonly model?: string | undefined;
  readonly models?: readonly string[] | undefined;
  /** Of the built-in tools, only these are offered. */
  readonly tools?: readonly string[] | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly permissionMode?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly appendSystemPrompt?: string | undefined;
  /** JSON Schema that the answer must fit. */
  readonly schema?: JsonObject | undefined;
  readonly maxTurns?: number | undefined;
  readonly maxBudgetUsd?: number | undefined;
  /** From its first start, over all crashes: milliseconds. */
  readonly deadlineMs?: number | undefined;
  /** Pictures and PDF documents that are shown with the prompt; other files are named in it. */
  readonly attachments?: readonly string[] | undefined;
  /** Its exit code decides whether the task passed. */
  readonly check?: TaskCheck | undefined;
  /** How often the task is run with each model. */
  readonly repetitions?: number | undefined;
  /** What a person may be asked is asked (`outrider batch approve`); without it, it is denied. */
  readonly approvals?: boolean | undefined;
  /** Whatever else its line held: kept for templates and results. */
  readonly labels?: JsonObject | undefined;
};

export type TaskCheck = {
  /** For `sh -c`, in the task's folder. */
  readonly command: string;
  readonly timeoutMs?: number | undefined;
  /** In a box that can write to the task's folder only, without network. */
  readonly sandboxed?: boolean | undefined;
  /** With `sandboxed`: folders of this machine that the box has at other places, to read. `WORK` stands for the task's folder, to write. */
  readonly mounts?: Readonly<Record<string, string>> | undefined;
  /** With `sandboxed`: where it writes `/logs/verifier/reward.txt` or `reward.json`, a reward below 1 is a failure whatever its exit code. */
  readonly reward?: boolean | undefined;
};

/** A task with one model, for the how-many-eth time: what is run, and what has a result. */
export type BatchUnit = {
  /** The task's id, with `@MODEL` where there are several models and `#N` where there are repetitions. */
  readonly id: string;
  readonly taskId: string;
  readonly repetition: number;
  readonly model: string | undefined;
  readonly task: BatchTask;
};

/** Every task with each of its models, as often as it says. Repetitions go round: a batch that is stopped has seen every task as often. */
export function toUnits(tasks: readonly BatchTask[]): BatchUnit[] {
  const units: BatchUnit[] = [];
  for (let repetition = 1, round = tasks; round.length > 0; repetition++) {
    for (const task of round) units.push(...unitsOf(task, repetition));
    round = round.filter(({ repetitions = 1 }) => repetition < repetitions);
  }
  const ids = new Set<string>();
  for (const { id } of units) {
    if (ids.has(id))
      throw new RuntimeError("usage", `Two runs would have the name ${JSON.stringify(id)}: give one of the tasks another id`);
    ids.add(id);
  }
  return units;
}

function unitsOf(task: BatchTask, repetition: number): BatchUnit[] {
  const models = task.models ? [...new Set(task.models)] : [task.model];
  return models.map((model) => {
    const asModel = models.length > 1 ? `@${model}` : "";
    const asRepetition = (task.repetitions ?? 1) > 1 ? `#${repetition}` : "";
    return { id: `${task.id}${asModel}${asRepetition}`, taskId: task.id, repetition, model, task };
  });
}
