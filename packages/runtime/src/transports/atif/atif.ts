import type { JsonObject } from "../../protocol/content.ts";

/** The versions we write: 1.7 unless a document holds audio (1.8) or has to be read by older programs (1.4). */
export type AtifVersion = "1.4" | "1.7" | "1.8";

/** The Agent Trajectory Interchange Format. An optional field may also be null. */
export type Trajectory = {
  schema_version: string;
  session_id?: string;
  trajectory_id?: string;
  agent: TrajectoryAgent;
  steps: Step[];
  notes?: string;
  final_metrics?: FinalMetrics;
  continued_trajectory_ref?: string;
  extra?: Extra;
  subagent_trajectories?: Trajectory[];
};

/** Free-form: what the format has no field for. */
export type Extra = Record<string, unknown>;

export type TrajectoryAgent = {
  name: string;
  version: string;
  model_name?: string;
  /** In the form of OpenAI's functions. */
  tool_definitions?: Record<string, unknown>[];
  extra?: Extra;
};

export type Step = {
  step_id: number;
  timestamp?: string;
  source: "system" | "user" | "agent";
  model_name?: string;
  reasoning_content?: string;
  message: Content;
  tool_calls?: ToolCall[];
  observation?: { results: ObservationResult[] };
  metrics?: Metrics;
  is_copied_context?: boolean;
  llm_call_count?: number;
  extra?: Extra;
};

export type Content = string | ContentPart[];

export type ContentPart =
  | { type: "text"; text: string }
  | { type: "image"; source: { media_type: string; path: string } }
  | { type: "audio"; source: { media_type: string; path: string } };

export type ToolCall = { tool_call_id: string; function_name: string; arguments: JsonObject; extra?: Extra };

export type ObservationResult = {
  source_call_id?: string;
  content?: Content;
  subagent_trajectory_ref?: SubagentRef[];
  extra?: Extra;
};

export type SubagentRef = { trajectory_id?: string; session_id?: string; trajectory_path?: string };

/** `prompt_tokens` is all input, cached or not; `cached_tokens` is the share of it that was read from a cache. */
export type Metrics = {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens?: number;
  cost_usd?: number;
  extra?: Extra;
};

/** Null where no step knows: that is not the same as 0. The cost includes subagents and calls beside the conversation. */
export type FinalMetrics = {
  total_prompt_tokens: number | null;
  total_completion_tokens: number | null;
  total_cached_tokens: number | null;
  total_cost_usd: number | null;
  total_steps: number;
  extra?: Extra;
};
