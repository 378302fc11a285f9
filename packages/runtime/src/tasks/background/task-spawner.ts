import type { BackgroundTaskMetadata, BackgroundTaskState } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { type ExecutionOrigin, originToMetadata } from "./execution-origin.ts";
import type { BackgroundJobGroupRequest } from "./job-groups.ts";
import type { AgentTaskRequest, BackgroundTaskRequest, ProcessTaskRequest, ScheduledTaskRequest } from "./task-contract.ts";

type Known = "mode" | "parentSessionId" | "depth" | "cwd";
/** A task as somebody wants it: where it belongs is known, and it is in the background and in the session's folder unless said otherwise. */
type Wanted<Request extends BackgroundTaskRequest> = Omit<Request, Known> & Partial<Pick<Request, "mode" | "cwd">>;
export type ExecutionTaskRequest = Wanted<AgentTaskRequest> | Wanted<ProcessTaskRequest> | Wanted<ScheduledTaskRequest>;

export type SpawnGround = {
  readonly cwd: string;
  readonly spawn: (request: BackgroundTaskRequest) => Promise<BackgroundTaskState>;
  readonly createGroup: (request: BackgroundJobGroupRequest) => BackgroundJobGroupState | Promise<BackgroundJobGroupState>;
};

/** Starts tasks and groups for somebody: their entries say for whom. That permits nothing. */
export interface ExecutionWorkspaceTaskSpawner {
  readonly origin: ExecutionOrigin;
  spawn(request: ExecutionTaskRequest): Promise<BackgroundTaskState>;
  createGroup(request: Omit<BackgroundJobGroupRequest, "parentSessionId">): Promise<BackgroundJobGroupState>;
}

export function createExecutionWorkspaceTaskSpawner(origin: ExecutionOrigin, ground: SpawnGround): ExecutionWorkspaceTaskSpawner {
  const metadataOf = (given: BackgroundTaskMetadata | undefined): BackgroundTaskMetadata => ({
    ...given,
    ...originToMetadata(origin),
  });
  const parentSessionId = origin.sessionId;
  return {
    origin,
    spawn: ({ mode = "background", cwd = ground.cwd, ...request }) =>
      ground.spawn({ ...request, mode, cwd, parentSessionId, depth: 1, metadata: metadataOf(request.metadata) }),
    createGroup: async (request) => await ground.createGroup({ ...request, parentSessionId }),
  };
}
