import { createMemoryStore } from "../../journal/memory-store.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import type { BackgroundTaskLogCursor, BackgroundTaskRunnerEvent } from "../../tasks/background/task-contract.ts";
import { BackgroundTaskError } from "../../tasks/background/task-error.ts";
import { toEndWords } from "../../tasks/subagents/end-words.ts";
import { JobLog } from "../../tasks/subagents/job-log.ts";
import type {
  SubagentJobHandle,
  SubagentJobResult,
  SubagentJobStart,
  SubagentRunner,
} from "../../tasks/subagents/subagent-contract.ts";
import { createSubagentLogger, type SubagentLogger } from "../../tasks/subagents/subagent-logger.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/content.ts";
import { defined } from "../../util/defined.ts";
import type { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";
import { createSubagentSession, findAgent } from "./create-subagent-session.ts";
import { firstArgOf } from "./first-arg.ts";
import { messageOf } from "../../util/message-of.ts";

/** What agents of a session need of it; also what a `subagentRunnerFactory` is given. */
export type InProcessSubagentRunnerDeps = {
  /** What the session was opened with: provider, tools, rules, agents. */
  readonly parent: SessionOptions;
  /** Text of the instruction files, as the session has it. */
  readonly claudeMd?: string | undefined;
  readonly agentsMd?: string | undefined;
  /** Where transcripts go, below a folder for the session; none are written when absent. */
  readonly logsDir?: string | undefined;
};

export type SubagentRunnerFactory = (deps: InProcessSubagentRunnerDeps) => SubagentRunner;

/** Each agent is a session of its own in this process. */
export function createInProcessSubagentRunner(deps: InProcessSubagentRunnerDeps): SubagentRunner {
  return { start: (job) => new SessionJob(job, deps) };
}

class SessionJob implements SubagentJobHandle {
  readonly jobId: string;
  readonly transcriptPath: string | undefined;
  readonly result: Promise<SubagentJobResult>;
  readonly #session: InteractiveSession;
  readonly #log: JobLog;
  readonly #logger: SubagentLogger | undefined;
  readonly #emit: (event: BackgroundTaskRunnerEvent) => void;
  #reading: Promise<void> = Promise.resolve();
  #usage: Usage = { ...noUsage };
  #isWorking = true;
  #late: Promise<unknown> = Promise.resolve();

  constructor({ jobId, request, emit }: SubagentJobStart, deps: InProcessSubagentRunnerDeps) {
    const { parent, claudeMd, agentsMd, logsDir } = deps;
    const { cwd, model, permissionPolicy = "inherit-allowlist" } = request;
    const agent = narrowed(findAgent(request.type, parent), request);
    this.jobId = jobId;
    this.#log = new JobLog(jobId);
    this.#logger = logsDir === undefined ? undefined : createSubagentLogger(request.parentSessionId, jobId, logsDir);
    this.transcriptPath = this.#logger?.path;
    this.#emit = (event) => {
      this.#log.hear(event);
      emit?.(event);
    };
    this.#session = createSubagentSession({
      agentId: jobId,
      agent,
      parent: {
        ...parent,
        sessionStore: createMemoryStore(),
        answersPermissions: permissionPolicy === "prompt",
        ...(permissionPolicy === "preapproved" && {
          allowedTools: [...(parent.allowedTools ?? []), ...(request.allowedTools ?? [])],
        }),
      },
      ...{ cwd, claudeMd, agentsMd },
      ...defined({ model }),
    });
    this.#reading = this.#read();
    this.result = this.#work(request.prompt);
    this.result.catch(() => {}); // whoever waits for it is told
  }

  async cancel(): Promise<void> {
    this.#session.abort();
    await this.#close();
    await this.result.catch(() => {});
  }

  /** An agent at work hears it with its next request. One that has ended cannot be told any more: its session is closed. */
  async send(prompt: string): Promise<void> {
    if (!this.#isWorking) throw new BackgroundTaskError("validation", `Job ${this.jobId} has ended and takes no messages`);
    const { outcome } = await this.#session.accept(prompt, { mode: "steer" });
    this.#late = Promise.allSettled([this.#late, outcome]);
  }

  readLog(cursor?: BackgroundTaskLogCursor): ReturnType<JobLog["page"]> {
    return this.#log.page(cursor);
  }

  answerPermission(requestId: string, isAllowed: boolean): void {
    this.#session.answerPermission(requestId, isAllowed ? "allow" : "deny");
  }

  async #work(prompt: string): Promise<SubagentJobResult> {
    const { jobId } = this;
    try {
      let outcome: Outcome = await this.#session.submit(prompt);
      for (let late = this.#late; ; late = this.#late) {
        await late; // what it was told in the meantime
        if (late === this.#late) break;
      }
      const last = this.#session.getMessages().findLast(({ role }) => role === "assistant");
      const words = last?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("") ?? "";
      if (outcome.type === "completed" && words !== "") outcome = { ...outcome, text: words };
      const output = toEndWords({ outcome, usage: this.#usage, modelCalls: 0, durationMs: 0, denials: [] });
      this.#isWorking = false;
      if (outcome.type !== "completed")
        throw new BackgroundTaskError(outcome.type === "failed" ? "provider" : "runner", output, { recoverable: false });
      await this.#close();
      this.#log.end("completed");
      return { jobId, output, usage: this.#usage };
    } catch (error) {
      this.#isWorking = false;
      await this.#close();
      this.#log.end(`failed: ${messageOf(error)}`);
      throw error;
    }
  }

  async #close(): Promise<void> {
    await this.#session.shutdown();
    await this.#reading;
    await this.#logger?.close();
  }

  async #read(): Promise<void> {
    for await (const event of this.#session.events({ capacity: 100_000 })) {
      this.#logger?.write(event);
      this.#tell(event);
    }
  }

  #tell(event: AgentEvent): void {
    switch (event.type) {
      case "text.delta":
        return this.#emit({ type: "background_task_text_delta", delta: event.text });
      case "message.ended":
        this.#usage = addUsage(this.#usage, event.message.usage);
        return;
      case "tool.started":
        return this.#emit({ type: "background_task_tool_start", toolName: event.name, ...firstArgOf(event.input) });
      case "tool.ended":
        return this.#emit({ type: "background_task_tool_end", toolName: event.name, success: event.status === "ok" });
      case "permission.requested":
        if (!this.#session.openPermission(event)) return; // it was denied at once
        return this.#emit({ type: "background_task_permission_request", requestId: event.requestId, toolName: event.tool });
      case "permission.resolved":
        return this.#emit({
          type: "background_task_permission_resolved",
          requestId: event.requestId,
          allowed: event.decision === "allow",
        });
    }
  }
}

/** A job may take tools from its agent, and never give it any. */
function narrowed(agent: AgentDefinition, { allowedTools, disallowedTools = [] }: SubagentJobStart["request"]): AgentDefinition {
  const names = allowedTools?.map((tool) => tool.replace(/\(.*$/s, ""));
  const tools = names && (agent.tools ? agent.tools.filter((tool) => names.includes(tool)) : names);
  return {
    ...agent,
    ...defined({ tools }),
    disallowedTools: [...(agent.disallowedTools ?? []), ...disallowedTools],
  };
}
