import { noUsage, type Usage } from "../../protocol/content.ts";
import type { EventBody } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { BackgroundTaskRunnerEvent } from "../../tasks/background/task-contract.ts";
import type { SubagentJobHandle, SubagentRunner, SubagentSpawnRequest } from "../../tasks/subagents/subagent-contract.ts";
import type { TaskEnd } from "../../tasks/task.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import { defined } from "../../util/defined.ts";
import { askForTask, type TaskAsking, type TaskQuestion } from "../tasks/ask-for-task.ts";
import type { SubagentRun } from "./subagents.ts";

/** A subagent whose work is done by a runner of the program: the session's record says that it began, how it ended and what it answered. */
export async function runHostedAgent(run: SubagentRun, runner: SubagentRunner, sessionId: string): Promise<TaskEnd> {
  const { taskId, spec, place, signal, beside, runId } = run;
  const { deps } = place;
  const tell = place.emitFrom(taskId);
  const model = spec.model ?? (spec.agent.model === "inherit" ? undefined : spec.agent.model) ?? deps.request.model;
  const started: EventBody<"task.started"> = {
    ...{ type: "task.started", taskId, callId: spec.callId, agent: spec.agent.name, description: spec.description },
    ...{ prompt: spec.prompt, model: { provider: deps.provider.name, id: model }, system: "", tools: [], runId },
    permissionMode: deps.policy().mode,
    ...(beside && { background: true, ...defined({ outputFile: beside.outputFile }) }),
  };
  tell(started);
  beside?.hear(started);
  await place.flush();
  const startedAt = deps.clock();
  signal.throwIfAborted();
  const ending = new AbortController();
  const asking: TaskAsking = {
    gate: deps.gate,
    answerable: deps.answerable,
    signal: AbortSignal.any([signal, ending.signal]),
    tell(event) {
      tell(event);
      beside?.hear(event);
    },
  };
  const handle = runner.start({
    jobId: taskId,
    request: toRequest(run, sessionId),
    // A runner may ask before it has answered with a handle.
    emit: (event) => hear(run, event, (asked) => queueMicrotask(() => void ask({ ...asked, taskId }, asking, handle))),
  });
  beside?.began();
  const stop = (): void => void handle.cancel("It was stopped").catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  beside?.onInput(() => forward(run, handle));
  forward(run, handle); // what it was told while it waited for others to end
  const { outcome, usage, worktree } = await handle.result
    .then(({ output, usage: used = { ...noUsage }, metadata }) => ({
      outcome: { type: "completed", text: output } as Outcome,
      usage: used as Usage,
      worktree: metadata?.["worktreeNextAction"],
    }))
    .catch((error: unknown) => ({ outcome: toOutcome(error, signal), usage: { ...noUsage }, worktree: undefined }))
    .finally(() => {
      signal.removeEventListener("abort", stop);
      ending.abort(new Error("The task has ended"));
    });
  const told = typeof worktree === "string" ? { ...outcome, text: `${outcome.text}\n\n${worktree}` } : outcome;
  const end = { outcome: told, usage, modelCalls: 0, durationMs: Math.round(deps.clock() - startedAt) };
  const ended: EventBody<"task.ended"> = { type: "task.ended", taskId, callId: spec.callId, ...end };
  tell(ended);
  beside?.hear(ended);
  return { ...end, denials: [] };
}

function toRequest({ spec, place, beside, runId }: SubagentRun, parentSessionId: string): SubagentSpawnRequest {
  const { agent, description, prompt, model } = spec;
  const isolation = spec.isolation ?? agent.isolation;
  return {
    ...{ type: agent.name, label: description, prompt, parentSessionId, depth: 1 },
    mode: beside ? "background" : "foreground",
    cwd: spec.root ?? place.deps.workspace.root,
    permissionPolicy: place.deps.answerable ? "prompt" : "inherit-allowlist",
    metadata: { runId },
    ...defined({ model, isolation }),
  };
}

type Asked = BackgroundTaskRunnerEvent & { readonly type: "background_task_permission_request" };

/** For the task's own log; nothing of it is stored. */
function hear({ beside, taskId }: SubagentRun, event: BackgroundTaskRunnerEvent, onAsked: (asked: Asked) => void): void {
  switch (event.type) {
    case "background_task_text_delta":
      return beside?.hear({ type: "text.delta", messageId: taskId, text: event.delta });
    case "background_task_permission_request":
      return onAsked(event);
    case "background_task_permission_resolved":
      return; // who has answered it has told so
    default:
      beside?.pass(event);
  }
}

/** Whether somebody waits for the agent or not: its questions go the way of all others. */
async function ask(asked: TaskQuestion, asking: TaskAsking, handle: SubagentJobHandle): Promise<void> {
  const isAllowed = await askForTask(asked, asking);
  if (isAllowed !== undefined) handle.answerPermission?.(asked.requestId, isAllowed);
}

function forward({ beside }: SubagentRun, handle: SubagentJobHandle): void {
  for (const { input } of beside?.takeInput() ?? []) {
    const text = input.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    void handle.send?.(text).catch(() => {}); // it has ended: its answer does without
  }
}

function toOutcome(error: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return { type: "cancelled", cause: "abort", text: "" };
  return { type: "failed", error: toRuntimeError(error).toJSON(), text: "" };
}
