import { toBackgroundTaskError } from "../background/task-error.ts";
import type { SubagentJobHandle, SubagentRunner } from "./subagent-contract.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

/** In the module that `createChildProcessSubagentRunner` starts: does the work of one agent with this runner, and ends the process. */
export function serveSubagentWorker(runner: SubagentRunner): void {
  const say = (message: FromWorker): void => void process.send?.(message);
  let handle: SubagentJobHandle | undefined;
  const leave = async (reason: string): Promise<void> => {
    await handle?.cancel(reason).catch(() => {});
    process.exit(0);
  };
  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "start":
        try {
          const { jobId, request } = message;
          handle = runner.start({ jobId, request, emit: (event) => say({ type: "event", event }) });
          handle.result.then(
            (result) => say({ type: "result", result }),
            (error: unknown) => say({ type: "failed", error: toBackgroundTaskError(error).toJSON() }),
          );
        } catch (error) {
          say({ type: "failed", error: toBackgroundTaskError(error).toJSON() });
        }
        return;
      case "cancel":
        return void handle?.cancel(message.reason).catch(() => {});
      case "send": {
        const { id, prompt } = message;
        const sending = handle?.send?.(prompt) ?? Promise.reject(new Error("It takes no messages"));
        return void sending.then(
          () => say({ type: "sent", id }),
          (error: unknown) => say({ type: "sent", id, problem: error instanceof Error ? error.message : String(error) }),
        );
      }
      case "answer":
        try {
          handle?.answerPermission?.(message.requestId, message.isAllowed);
        } catch {
          // Nobody waits for the answer any more.
        }
        return;
      case "leave":
        return void leave("Nobody wants it any more");
    }
  });
  process.once("disconnect", () => void leave("The process that started it is gone"));
  say({ type: "ready" });
}
