import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { InterruptEvent, TrajectoryEvent, TurnPhase } from "../atif/lines/trajectory-events.ts";
import type { CompactionCallbacks, CompactionCircuitBreaker } from "./compact-history.ts";
import type { MessageHistory } from "./message-history.ts";
import type { AgentStreamOptions, ModelMessage, RunnableAgent, StreamUsage } from "./runnable-agent.ts";
import type { TodoReminder } from "./todo-continuation.ts";

/** What `onBeforeTurn` answers: options of the next call that take the place of the run's own. */
export type BeforeTurnResult = Partial<AgentStreamOptions>;

export type HeadlessConfig = SessionRunConfig | AgentRunConfig;

/** `content` is for the model, `eventContent` for the lines when it differs, `originalContent` what a person typed. */
export type RunPrompt = {
  readonly content: string;
  readonly eventContent?: string | undefined;
  readonly originalContent?: string | undefined;
};

type CommonConfig = {
  readonly sessionId: string;
  readonly modelId: string;
  /** What the lines and the trajectory call the agent; `outrider` when absent. */
  readonly agentName?: string | undefined;
  readonly initialUserMessage?: RunPrompt | undefined;
  /** How often the agent is called in the whole run, or a session asks its model, reminders included; tries again are not counted. */
  readonly maxIterations?: number | undefined;
  /** 20 when absent. */
  readonly maxTodoReminders?: number | undefined;
  /** Standard output, one line each, when absent. */
  readonly emitEvent?: ((event: TrajectoryEvent) => void) | undefined;
  readonly onInterrupt?: ((event: InterruptEvent) => void | Promise<void>) | undefined;
  readonly onTurnComplete?:
    | ((messages: unknown[], usage?: StreamUsage, snapshot?: unknown, finishReason?: string) => void | Promise<void>)
    | undefined;
  readonly onTodoReminder?: (() => Promise<TodoReminder>) | undefined;
  /** Where the trajectory is written, after every step. */
  readonly atifOutputPath?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
};

/** A session of ours. It has its own history, time limits, ceilings and compaction: they are options of the session. */
export type SessionRunConfig = CommonConfig & {
  readonly agent: InteractiveSession<unknown>;
  /** Told of each prompt and its answer. Its last prompt begins the run where there is no `initialUserMessage`. */
  readonly messageHistory?: MessageHistory | undefined;
};

/** An object with a `stream` method, which runs its tools itself. */
export type AgentRunConfig = CommonConfig & {
  readonly agent: RunnableAgent;
  /** Read and written during the run. */
  readonly messageHistory: MessageHistory;
  /** How often the agent is called, tries again included; 2,000 when absent, and less where there are few `maxIterations`. */
  readonly maxRequests?: number | undefined;
  readonly measureUsage?: ((messages: ModelMessage[]) => Promise<unknown>) | undefined;
  readonly circuitBreaker?: CompactionCircuitBreaker | undefined;
  readonly compactionCallbacks?: CompactionCallbacks | undefined;
  readonly disableCompaction?: boolean | undefined;
  readonly onBeforeTurn?:
    | ((phase: TurnPhase) => BeforeTurnResult | undefined | Promise<BeforeTurnResult | undefined>)
    | undefined;
  readonly onStreamStart?: ((phase: TurnPhase) => void | Promise<void>) | undefined;
  readonly shouldContinue?: ((finishReason: string) => boolean) | undefined;
  /** How long the model may be silent while no tool works; 30,000 when absent. */
  readonly streamTimeoutMs?: number | undefined;
};
