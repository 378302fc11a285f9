import { join } from "node:path";
import type { BackgroundTaskResult } from "../../protocol/background-task.ts";
import type { ProcessTaskRequest, BackgroundTaskHandle, BackgroundTaskStart } from "../../tasks/background/task-contract.ts";
import { createLimitedOutputCapture } from "../../tasks/background/output-capture.ts";
import { OutputFile } from "../../tasks/background/output-file.ts";
import { tellLater } from "../../tasks/background/tell-later.ts";
import type { LineWatch } from "../../tasks/background/matched-lines.ts";
import { BackgroundTaskError } from "../../tasks/background/task-error.ts";
import type { ProcessSpec } from "../../tasks/task.ts";
import type { ProcessEnd, RunningProcess } from "../../workspace/workspace.ts";
import { messageOf } from "../../util/message-of.ts";

/** Of the result: the log has all of it. */
const resultBytes = 4_000;

export type ProcessPlace = {
  /** The folder for outputs. */
  readonly folder: string;
  readonly mask: (text: string) => string;
};

export type RunningTask = BackgroundTaskHandle & { readonly output: OutputFile };

/** Starts a program whose output goes to a file, and which is asked for it. */
export async function startProcessTask(
  { taskId, emit, request }: BackgroundTaskStart<ProcessTaskRequest>,
  spec: ProcessSpec,
  { folder, mask }: ProcessPlace,
  watch?: LineWatch,
): Promise<RunningTask> {
  const output = new OutputFile({ path: join(folder, `${taskId}.output`), mask });
  const beginning = createLimitedOutputCapture(request.outputLimitBytes ?? resultBytes);
  const deltas = tellLater((text) => emit({ type: "background_task_text_delta", delta: mask(text) }));
  const decoder = new TextDecoder();
  /** Until it has ended: what is known of a task that has, is little, and there may be many. */
  let process: RunningProcess | undefined = await spec.start({
    takesInput: true,
    onOutput: async ({ bytes }) => {
      beginning.append(bytes);
      deltas.add(decoder.decode(bytes, { stream: true }));
      watch?.add(bytes);
      await output.append(bytes);
    },
  });
  let why: string | undefined;
  const end = async ({ ended: ending }: RunningProcess): Promise<BackgroundTaskResult> => {
    const ended = await ending
      .catch(async (error: unknown) => {
        await output.end("[its output could not be kept]").catch(() => {});
        throw new BackgroundTaskError("process", messageOf(error), { cause: error });
      })
      .finally(() => {
        process = undefined;
      });
    deltas.stop();
    watch?.end();
    await output.end(lastWords(ended, why));
    return { taskId, kind: "process", output: mask(beginning.toString()), ...toCodes(ended) };
  };
  return {
    pid: process.pid,
    logPath: output.path,
    output,
    result: end(process),
    async cancel(reason) {
      why = reason;
      await process?.kill();
    },
    async send(input) {
      if (!(await process?.write(input)))
        throw new BackgroundTaskError("process", `Task ${taskId} reads no more of its standard input`);
    },
    readLog: (cursor) => output.page(taskId, "stdout", cursor),
  };
}

function lastWords(ended: ProcessEnd, why: string | undefined): string {
  if (ended.end === "exit") return `[exited with code ${ended.exitCode}]`;
  return ended.end === "signal" ? `[ended by ${ended.signal}]` : `[stopped${why === undefined ? "" : `: ${why}`}]`;
}

function toCodes(ended: ProcessEnd): Pick<BackgroundTaskResult, "exitCode" | "signalCode"> {
  if (ended.end === "exit") return { exitCode: ended.exitCode };
  return ended.end === "signal" ? { signalCode: ended.signal } : {};
}
