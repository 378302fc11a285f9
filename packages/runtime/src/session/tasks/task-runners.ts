import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type {
  AgentTaskRequest,
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskStart,
  ProcessTaskRequest,
} from "../../tasks/background/task-contract.ts";
import { BackgroundTaskError } from "../../tasks/background/task-error.ts";
import type { TaskClock } from "../../tasks/background/task-watch.ts";
import { createScheduledTaskRunner, type ScheduledFiring } from "../../tasks/schedules/scheduled-runner.ts";
import type { ProcessSpec } from "../../tasks/task.ts";
import { createLineTest } from "../../tools/line-test.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { WakeUp } from "./background-work.ts";
import { watchLines } from "../../tasks/background/matched-lines.ts";
import { type ProcessPlace, type RunningTask, startProcessTask } from "./process-runner.ts";
import { toDueNotice, toLinesNotice, toUnwatchedNotice } from "./task-notice.ts";

export type RunnersGround = ProcessPlace & {
  /** Where programs run that no call of a tool was allowed to start elsewhere. */
  readonly workspace: Workspace;
  /** What the program brought: such a runner takes the place of ours, but not for what a tool starts. */
  readonly given: readonly BackgroundTaskRunner[];
  /** How a tool wants its program started. */
  readonly specOf: (request: ProcessTaskRequest) => ProcessSpec | undefined;
  /** How the session's own agents begin; undefined for one that somebody else starts. */
  readonly agent: (start: BackgroundTaskStart<AgentTaskRequest>) => Promise<RunningTask> | undefined;
  readonly onRunning: (taskId: string, task: RunningTask) => void;
  readonly onDue: (wakeUp: WakeUp) => void;
  readonly spawn: (request: ProcessTaskRequest) => Promise<BackgroundTaskState>;
  readonly clock: TaskClock;
};

/** Who starts the tasks of a session, by their kind. */
export function createRunners(ground: RunnersGround): BackgroundTaskRunner[] {
  const others = ground.given.filter(({ kind }) => kind === "scheduled");
  const schedules = createScheduledTaskRunner({ clock: ground.clock, fire: (firing) => fire(firing, ground) });
  return [
    { kind: "process", start: (task: BackgroundTaskStart<ProcessTaskRequest>) => startProcess(task, ground) },
    { kind: "agent", start: (task: BackgroundTaskStart<AgentTaskRequest>) => startAgent(task, ground) },
    ...(others.length > 0 ? others : [schedules]),
  ];
}

async function startAgent(
  task: BackgroundTaskStart<AgentTaskRequest>,
  { agent, given, onRunning }: RunnersGround,
): Promise<BackgroundTaskHandle> {
  const running = await agent(task);
  if (running) {
    onRunning(task.taskId, running);
    return running;
  }
  const own = given.find((runner) => runner.kind === "agent") as BackgroundTaskRunner<AgentTaskRequest> | undefined;
  if (!own) throw new BackgroundTaskError("runner", "Nobody said how to start it");
  return await own.start(task);
}

async function startProcess(task: BackgroundTaskStart<ProcessTaskRequest>, ground: RunnersGround): Promise<BackgroundTaskHandle> {
  const { taskId, request } = task;
  const spec = ground.specOf(request);
  const own = ground.given.find((runner) => runner.kind === "process") as BackgroundTaskRunner<ProcessTaskRequest> | undefined;
  if (!spec && own) return await own.start(task);
  const { matchPattern, agentInstruction } = request;
  const matching = matchPattern === undefined ? undefined : createLineTest(matchPattern, "The pattern");
  const tell = (found: readonly string[]): void => ground.onDue(toWakeUp(taskId, toLinesNotice(taskId, found, agentInstruction)));
  const giveUp = (why: string): void => ground.onDue(toWakeUp(taskId, toUnwatchedNotice(taskId, why)));
  const lines = matching && watchLines({ matching, tell, giveUp });
  const running = await startProcessTask(task, spec ?? toSpec(request, ground.workspace), ground, lines);
  ground.onRunning(taskId, running);
  return running;
}

function toWakeUp(taskId: string, text: string): WakeUp {
  return { taskId, text, joins: true, onTold: () => {} };
}

/** A program nobody's call has started: in the box, where there is one. */
function toSpec(request: ProcessTaskRequest, workspace: Workspace): ProcessSpec {
  const { command, label, cwd, shell = "bash", env = {}, stdin } = request;
  return {
    ...{ callId: "", command, label, cwd },
    async start(hooks) {
      const process = await workspace.start({ file: shell, args: ["-c", command], cwd, env: { ...env, PWD: cwd }, ...hooks });
      if (stdin !== undefined) {
        void process.write(stdin); // what it reads no more of is not missed
        process.endInput();
      }
      return process;
    },
  };
}

/** Settles when the model has heard of it: times that come before are counted as missed. */
async function fire({ taskId, request, dueAt, missed }: ScheduledFiring, ground: RunnersGround): Promise<void> {
  const { command, label, mode, parentSessionId, cwd, agentInstruction } = request;
  if (command !== undefined) {
    const base = { kind: "process", label, mode, parentSessionId, parentTaskId: taskId, depth: 1, cwd, command } as const;
    await ground.spawn({ ...base, agentInstruction });
    return;
  }
  const text = toDueNotice({ taskId, label, dueAt, missed, instruction: agentInstruction ?? label });
  await new Promise<void>((resolve) => ground.onDue({ taskId, text, joins: false, onTold: resolve }));
}
