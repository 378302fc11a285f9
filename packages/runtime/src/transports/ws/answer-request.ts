import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { defined } from "../../util/defined.ts";
import type { JobGroups } from "./job-groups.ts";
import type { ClientMessage, ServerReply, TaskInput } from "./messages.ts";

/** Whose requests are answered. */
export type Asked = {
  readonly session: InteractiveSession<unknown>;
  readonly groups: JobGroups | undefined;
  /** Throws where nothing more may be begun; answers what to call when that is over. */
  readonly admit?: (() => () => void) | undefined;
};

type Request<T extends ClientMessage["type"]> = Extract<ClientMessage, { type: T }>;

/** Does what a client asks for. Undefined where the seed knows no answer: whoever gave an `id` is told that it is done. Rejects with the reason of a refusal. */
export async function answerRequest(
  { session, groups, admit = () => () => {} }: Asked,
  message: ClientMessage,
): Promise<ServerReply | undefined> {
  switch (message.type) {
    case "submit":
      return await submit(session, message, admit());
    case "command":
      return await runCommand(session, message, admit());
    case "abort":
      return void session.abort();
    case "cancel-queue":
      return void session.cancelQueue();
    case "get-messages":
      return { type: "messages", messages: session.getMessages() };
    case "get-context":
      return { type: "context", state: session.getContextState() };
    case "get-executing":
      return { type: "executing", executing: session.isExecuting() };
    case "get-pending":
      return { type: "pending", pending: session.getPendingPrompt() };
    case "get-background-tasks":
      return { type: "background_tasks", tasks: session.listBackgroundTasks(message.filter) };
    case "get-background-task": {
      const { taskId } = message;
      return { type: "background_task", taskId, task: session.getBackgroundTask(taskId) ?? null };
    }
    case "cancel-background-task":
      return await control("cancel", message.taskId, () => session.cancelBackgroundTask(message.taskId, message.reason));
    case "close-background-task":
      return await control("close", message.taskId, () => session.closeBackgroundTask(message.taskId));
    case "send-background-task":
      return await control("send", message.taskId, () => session.sendBackgroundTask(message.taskId, wordsOf(message.input)));
    case "read-background-task-log": {
      const { taskId, cursor } = message;
      if (!session.getBackgroundTask(taskId)) throw new RuntimeError("not-found", `Unknown background task: ${taskId}`);
      return { type: "background_task_log", taskId, page: await session.readBackgroundTaskLog(taskId, cursor) };
    }
    case "get-background-job-groups":
      return { type: "background_job_groups", groups: groups?.listGroups() ?? [] };
    case "get-background-job-group": {
      const { groupId } = message;
      return { type: "background_job_group", groupId, group: groups?.getGroup(groupId) ?? null };
    }
    case "wait-background-job-group": {
      const { groupId } = message;
      const group = groups?.getGroup(groupId) ? await groups.waitGroup(groupId) : null;
      return { type: "background_job_group", groupId, group };
    }
    case "permission-response":
      return answerPermission(session, message);
    case "ask-response": {
      const isTaken = session.answerInteraction(message.requestId, message.value);
      if (!isTaken) throw new RuntimeError("not-found", `There is no open question ${message.requestId}`);
      return undefined;
    }
    case "cancel-prompt": {
      const isCancelled = await session.cancelPrompt(message.promptId);
      if (!isCancelled) throw new RuntimeError("not-found", `No prompt ${message.promptId} waits`);
      return undefined;
    }
    case "get-commands":
      return { type: "commands", commands: session.listCommands() };
  }
}

function wordsOf(input: TaskInput): string {
  return typeof input === "string" ? input : (input.prompt ?? input.stdin ?? "");
}

async function submit(
  session: InteractiveSession<unknown>,
  { prompt, images = [], mode, key, id }: Request<"submit">,
  end: () => void,
): Promise<ServerReply | undefined> {
  const message: UserMessage = {
    role: "user",
    content: [
      { type: "text", text: prompt },
      ...images.map(({ mediaType, data }) => ({ type: "image" as const, mediaType, data })),
    ],
  };
  const input = images.length === 0 ? prompt : message;
  if (id === undefined && key === undefined) {
    await endedBy(session.submit(input, { mode }), end);
    return undefined;
  }
  const accepting = session.accept(input, { mode, key });
  accepting.then(({ outcome }) => endedBy(outcome, end)).catch(end); // whoever waits for either is told
  const { id: turnId, isRepeated } = await accepting;
  return { type: "accepted", turnId, repeated: isRepeated };
}

async function endedBy<T>(work: Promise<T>, end: () => void): Promise<T> {
  try {
    return await work;
  } finally {
    end();
  }
}

async function runCommand(
  session: InteractiveSession<unknown>,
  { name, args = "" }: Request<"command">,
  end: () => void,
): Promise<ServerReply> {
  const result = await endedBy(session.executeCommand(name, args), end);
  if (!result) return { type: "command_result", name, message: `Unknown command: ${name}`, success: false };
  const { message, success, data } = result;
  return { type: "command_result", name, message, success, ...defined({ data }) };
}

async function control(action: "cancel" | "close" | "send", taskId: string, work: () => Promise<void>): Promise<ServerReply> {
  try {
    await work();
    return { type: "background_task_control_result", action, taskId, success: true };
  } catch (error) {
    const { message } = toRuntimeError(error);
    return { type: "background_task_control_result", action, taskId, success: false, message };
  }
}

function answerPermission(session: InteractiveSession<unknown>, message: Request<"permission-response">): undefined {
  const { requestId, decision, remember, updatedInput, interrupt } = message;
  session.answerPermission(requestId, {
    decision,
    ...defined({ message: message.message, remember, updatedInput, interrupt }),
  });
  return undefined;
}
