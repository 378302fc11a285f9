/** One object per line: what a run says of itself as it happens. `session_id` stands in `metadata` alone. */
export type TrajectoryEvent =
  | MetadataEvent
  | StepEvent
  | ApprovalEvent
  | CompactionEvent
  | ErrorEvent
  | InterruptEvent
  | TurnStartEvent;

export type MetadataEvent = {
  type: "metadata";
  timestamp: string;
  session_id: string;
  agent: { name: string; version: string; model_name: string };
};

export type StepEvent = UserStepEvent | AgentStepEvent;

export type UserStepEvent = { type: "step"; step_id: number; timestamp: string; source: "user"; message: string };

export type AgentStepEvent = {
  type: "step";
  step_id: number;
  timestamp: string;
  source: "agent";
  message: string;
  model_name?: string;
  reasoning_content?: string;
  tool_calls?: { tool_call_id: string; function_name: string; arguments: Record<string, unknown> }[];
  observation?: { results: { source_call_id: string; content: string }[] };
  metrics?: StepMetrics;
};

/** As the provider counted; nothing is estimated. */
export type StepMetrics = {
  prompt_tokens?: number;
  completion_tokens?: number;
  cached_tokens?: number;
  cost_usd?: number;
};

export type ApprovalEvent = {
  type: "approval";
  timestamp: string;
  state: "pending" | "approved" | "denied";
  toolCallId?: string;
  toolName?: string;
  reason?: string;
  providerExecuted?: boolean;
};

export type CompactionEvent = {
  type: "compaction";
  timestamp: string;
  event: "start" | "complete" | "blocking_change";
  tokensBefore: number;
  tokensAfter?: number;
  strategy?: string;
  durationMs?: number;
  blocking?: boolean;
  reason?: string;
};

export type ErrorEvent = { type: "error"; timestamp: string; error: string; code?: string };

/** Somebody stopped the run on purpose. */
export type InterruptEvent = { type: "interrupt"; timestamp: string; reason: "caller-abort" };

export type TurnStartEvent = { type: "turn-start"; timestamp: string; phase: TurnPhase };

/** `new-turn`: the first call for a prompt. `intermediate-step`: the model goes on after its tools. */
export type TurnPhase = "new-turn" | "intermediate-step";
