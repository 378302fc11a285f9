import { join } from "node:path";
import { callsOf, textOf } from "../../protocol/content.ts";
import type { EventBody } from "../../protocol/events.ts";
import { TurnAborted } from "../../engine/turn-aborted.ts";
import type { PermissionGate } from "../../permissions/gate.ts";
import { OutputFile } from "../../tasks/background/output-file.ts";
import type { AgentTaskRequest, BackgroundTaskStart } from "../../tasks/background/task-contract.ts";
import { createSubagentLogger } from "../../tasks/subagents/subagent-logger.ts";
import { tellLater } from "../../tasks/background/tell-later.ts";
import type { TaskEnd } from "../../tasks/task.ts";
import type { Redactor } from "../../util/redact.ts";
import type { RunningTask } from "../tasks/process-runner.ts";
import { toAgentResult } from "./agent-result.ts";
import { firstArgOf } from "./first-arg.ts";
import type { Beside } from "./subagents.ts";

export type AgentFiles = {
  /** The folder for outputs of the session's tasks. */
  readonly folder: string;
  readonly sessionId: string;
};

export type AgentStart = {
  readonly start: BackgroundTaskStart<AgentTaskRequest>;
  readonly files: AgentFiles;
  readonly inbox: { take: Beside["takeInput"]; listen: Beside["onInput"]; close(): void };
  /** Tells it something, also after its end. */
  readonly send: (text: string) => Promise<void>;
  readonly gate: PermissionGate;
  readonly redactor: Redactor;
};

/** Runs an agent as a task: what it says goes to a file, what it does to whoever watches. Resolves when it has begun, rejects when it cannot. */
export async function startAgentTask(
  { start: { taskId, request, emit, signal }, files, inbox, gate, redactor, send }: AgentStart,
  run: (signal: AbortSignal, beside: Beside) => Promise<TaskEnd>,
): Promise<RunningTask> {
  const controller = new AbortController();
  const again = request.metadata?.["agentId"] === undefined ? "" : `-${request.metadata["runId"]}`;
  const output = new OutputFile({
    path: join(files.folder, `${taskId}${again}.output`),
    mask: (text) => redactor.text(text),
  });
  const log = createSubagentLogger(files.sessionId, taskId, join(files.folder, ".."));
  const watch = new AgentWatch({ emit, output, isAsked: (requestId) => gate.question(requestId) !== undefined });
  let onBegan = (): void => {};
  const began = new Promise<void>((resolve) => {
    onBegan = resolve;
  });
  const abort = (): void => controller.abort(new TurnAborted("abort"));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const ending = run(controller.signal, {
    outputFile: output.path,
    began: onBegan,
    hear: (event) => {
      log.write(redactor.value(event));
      watch.hear(event);
    },
    takeInput: () => inbox.take(),
    endInput: () => inbox.close(),
    onInput: (listener) => inbox.listen(listener),
    pass: emit,
    interrupt: abort,
  });
  let why: string | undefined;
  const finish = async (words: string): Promise<void> => {
    inbox.close();
    watch.stop();
    await output.end(words).catch(() => {}); // what it said is on record all the same
    await log.close();
  };
  const result = ending.then(
    async (end) => {
      await finish(end.outcome.type === "completed" ? "[completed]" : `[${why === undefined ? "ended" : `stopped: ${why}`}]`);
      return toAgentResult(taskId, end);
    },
    async (error: unknown) => {
      await finish("[failed]");
      throw error;
    },
  );
  result.catch(() => {}); // whoever started it is told
  await Promise.race([began, ending]);
  return {
    logPath: output.path,
    transcriptPath: log.path,
    output,
    result,
    async cancel(reason) {
      why = reason ?? "somebody did";
      abort();
      await result.catch(() => {});
    },
    send,
    readLog: (cursor) => output.page(taskId, "stdout", cursor),
    answerPermission: (requestId, isAllowed) => gate.answer(requestId, isAllowed ? "allow" : "deny"),
  };
}

const touchMs = 10_000;

type Watching = Pick<BackgroundTaskStart, "emit"> & {
  readonly output: OutputFile;
  /** Does somebody have this question, and has not answered it? */
  readonly isAsked: (requestId: string) => boolean;
};

/** Tells the list of tasks what an agent does, in its words. */
class AgentWatch {
  readonly #options: Watching;
  readonly #deltas: ReturnType<typeof tellLater>;
  #touched = 0;

  constructor(options: Watching) {
    this.#options = options;
    this.#deltas = tellLater((text) => options.emit({ type: "background_task_text_delta", delta: text }));
  }

  hear(event: EventBody): void {
    const { emit } = this.#options;
    switch (event.type) {
      case "text.delta":
        return this.#deltas.add(event.text);
      case "reasoning.delta":
      case "tool.progress":
        return this.#touch();
      case "message.ended":
        return this.#show(event);
      case "tool.started":
        return emit({ type: "background_task_tool_start", toolName: event.name, ...firstArgOf(event.input) });
      case "tool.ended":
        return emit({ type: "background_task_tool_end", toolName: event.name, success: event.status === "ok" });
      case "permission.requested":
        if (!this.#options.isAsked(event.requestId)) return; // it is denied at once
        return emit({ type: "background_task_permission_request", requestId: event.requestId, toolName: event.tool });
      case "permission.resolved":
        return emit({
          type: "background_task_permission_resolved",
          requestId: event.requestId,
          allowed: event.decision === "allow",
        });
    }
  }

  stop(): void {
    this.#deltas.stop();
  }

  /** Nothing to show, and yet it is at work. */
  #touch(): void {
    const now = Date.now();
    if (now - this.#touched < touchMs) return;
    this.#touched = now;
    this.#options.emit({ type: "background_task_text_delta", delta: "" });
  }

  #show({ message }: EventBody<"message.ended">): void {
    const text = textOf(message.content).trim();
    const calls = callsOf(message).map(({ name, input }) => `> ${[name, firstArgOf(input).firstArg].filter(Boolean).join(" ")}`);
    const lines = [...(text === "" ? [] : [text]), ...calls];
    void this.#options.output.append(Buffer.from(`${lines.join("\n")}\n`)).catch(() => {}); // what it said is on record all the same
  }
}
