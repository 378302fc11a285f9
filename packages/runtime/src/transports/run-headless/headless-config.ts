import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { CompactionCallbacks, CompactionCircuitBreaker } from "./compact-history.ts";
import type { InterruptEvent, TrajectoryEvent, TurnPhase } from "../atif/lines/trajectory-events.ts";
import type { MessageHistory } from "./message-history.ts";
import type { AgentStreamOptions, ModelMessage, RunnableAgent, StreamUsage } from "./runnable-agent.ts";
import type { TodoReminder } from "./todo-continuation.ts";

/** What `onBeforeTurn` answers: options of the next call that take the place of the run's own. */
export type BeforeTurnResult = Partial<AgentStreamOptions>;

export type HeadlessConfig = {
  /** An agent with a `stream` method, or a session of ours. */
  readonly agent: RunnableAgent | InteractiveSession;
  readonly sessionId: string;
  /** Read and written during the run. */
  readonly messageHistory: MessageHistory;
  readonly modelId: string;
  /** `content` is for the model, `eventContent` for the lines when it differs, `originalContent` what a person typed. */
  readonly initialUserMessage?: { content: string; eventContent?: string; originalContent?: string };
  /** How often the agent is called in the whole run, reminders included; tries again are not counted. */
  readonly maxIterations?: number;
  /** The same with tries again; 2,000 when absent, and less where there are few `maxIterations`. A session counts what it asks itself. */
  readonly maxRequests?: number;
  /** 20 when absent. */
  readonly maxTodoReminders?: number;
  readonly measureUsage?: (messages: ModelMessage[]) => Promise<unknown>;
  /** Standard output, one line each, when absent. */
  readonly emitEvent?: (event: TrajectoryEvent) => void;
  readonly circuitBreaker?: CompactionCircuitBreaker;
  readonly compactionCallbacks?: CompactionCallbacks;
  readonly disableCompaction?: boolean;
  readonly onBeforeTurn?: (phase: TurnPhase) => BeforeTurnResult | undefined | Promise<BeforeTurnResult | undefined>;
  readonly onStreamStart?: (phase: TurnPhase) => void | Promise<void>;
  readonly onInterrupt?: (event: InterruptEvent) => void | Promise<void>;
  readonly onTurnComplete?: (
    messages: unknown[],
    usage?: StreamUsage,
    snapshot?: unknown,
    finishReason?: string,
  ) => void | Promise<void>;
  readonly onTodoReminder?: () => Promise<TodoReminder>;
  readonly shouldContinue?: (finishReason: string) => boolean;
  /** How long the model may be silent, tools at work excepted: 30,000 when absent, and no limit for a session, which has its own. */
  readonly streamTimeoutMs?: number;
  /** Where the trajectory is written, after every step. */
  readonly atifOutputPath?: string;
  readonly abortSignal?: AbortSignal;
};
