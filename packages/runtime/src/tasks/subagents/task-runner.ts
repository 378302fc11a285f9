import type { BackgroundTaskResult } from "../../protocol/background-task.ts";
import { defined } from "../../util/defined.ts";
import type { AgentTaskRequest, BackgroundTaskHandle, BackgroundTaskRunner } from "../background/task-contract.ts";
import type { SubagentJobHandle, SubagentRunner, SubagentSpawnRequest } from "./subagent-contract.ts";

export function toTaskRequest({
  type,
  permissionPolicy = "inherit-allowlist",
  ...request
}: SubagentSpawnRequest): AgentTaskRequest {
  return { ...request, kind: "agent", agentType: type, permissionPolicy };
}

/** A runner of agents as the list of tasks knows runners. */
export function toTaskRunner(runner: SubagentRunner): BackgroundTaskRunner<AgentTaskRequest> {
  return {
    kind: "agent",
    start({ taskId, request: { kind: _, agentType, ...request }, emit }) {
      return toTaskHandle(runner.start({ jobId: taskId, request: { ...request, type: agentType }, emit }));
    },
  };
}

function toTaskHandle(handle: SubagentJobHandle): BackgroundTaskHandle {
  const { jobId, pid, logPath, transcriptPath } = handle;
  const result = handle.result.then(({ output, usage, metadata }): BackgroundTaskResult => {
    return { taskId: jobId, kind: "agent", output, ...defined({ usage, metadata }) };
  });
  return {
    ...defined({ pid, logPath, transcriptPath }),
    result,
    cancel: (reason) => handle.cancel(reason),
    ...(handle.send && { send: async (prompt: string) => await handle.send?.(prompt) }),
    ...(handle.readLog && { readLog: handle.readLog.bind(handle) }),
    ...(handle.answerPermission && { answerPermission: handle.answerPermission.bind(handle) }),
  };
}
