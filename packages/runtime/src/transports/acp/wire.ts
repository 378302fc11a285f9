/** The words of the Agent Client Protocol, version 1, as far as they are said here. Names and shapes are the protocol's. */

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string; uri?: string | null }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; title?: string | null; description?: string | null }
  | { type: "resource"; resource: ResourceContents };

export type ResourceContents =
  | { uri: string; mimeType?: string | null; text: string }
  | { uri: string; mimeType?: string | null; blob: string };

export type ToolKind = "read" | "edit" | "search" | "execute" | "think" | "fetch" | "other";
export type ToolCallStatus = "pending" | "in_progress" | "completed" | "failed";

export type ToolCallContent =
  | { type: "content"; content: ContentBlock }
  | { type: "terminal"; terminalId: string }
  | { type: "diff"; path: string; oldText?: string | null; newText: string };

export type Meta = { [key: string]: unknown };

/** What is told of a call; in an update, what is absent stays as it was. */
export type ToolCallFields = {
  title?: string;
  name?: string;
  kind?: ToolKind;
  status?: ToolCallStatus;
  content?: ToolCallContent[];
  locations?: { path: string; line?: number }[];
  rawInput?: unknown;
  rawOutput?: unknown;
  _meta?: Meta;
};

export type PlanEntry = { content: string; priority: "medium"; status: "pending" | "in_progress" | "completed" };

export type Chunk = { content: ContentBlock; messageId?: string };

export type SessionUpdate =
  | (Chunk & { sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" })
  | (ToolCallFields & { sessionUpdate: "tool_call"; toolCallId: string; title: string })
  | (ToolCallFields & { sessionUpdate: "tool_call_update"; toolCallId: string })
  | { sessionUpdate: "plan"; entries: PlanEntry[] }
  | { sessionUpdate: "available_commands_update"; availableCommands: AvailableCommand[] }
  | { sessionUpdate: "current_mode_update"; currentModeId: string }
  | { sessionUpdate: "config_option_update"; configOptions: ConfigOption[] }
  | { sessionUpdate: "session_info_update"; title?: string; updatedAt?: string }
  | { sessionUpdate: "usage_update"; used: number; size: number; cost?: { amount: number; currency: string } }
  | { sessionUpdate: "notice"; severity: "info" | "warning" | "error"; title: string; description?: string }
  | {
      sessionUpdate: "compaction_update";
      compactionId: string;
      status: "in_progress" | "completed" | "failed" | "cancelled";
      summary?: ContentBlock[];
      error?: string;
    };

export type AvailableCommand = { name: string; description: string; input?: { hint: string } };

export type SessionModes = { currentModeId: string; availableModes: { id: string; name: string; description: string }[] };

export type ConfigOption = {
  type: "select";
  id: string;
  name: string;
  description: string;
  category: "mode" | "model" | "thought_level";
  currentValue: string;
  options: { value: string; name: string; description?: string }[];
};

export type PermissionOption = { optionId: string; name: string; kind: "allow_once" | "allow_always" | "reject_once" };

export type PermissionQuestion = {
  sessionId: string;
  toolCall: ToolCallFields & { toolCallId: string };
  options: PermissionOption[];
};

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** `usage` is not stable in the protocol yet, and read by clients all the same. */
export type PromptResponse = {
  stopReason: StopReason;
  usage?: {
    totalTokens: number;
    inputTokens: number;
    outputTokens: number;
    thoughtTokens?: number;
    cachedReadTokens?: number;
    cachedWriteTokens?: number;
  };
  _meta?: Meta;
};

/** How a client names a server that the session is to use. */
export type McpServer =
  | { type: "http" | "sse"; name: string; url: string; headers: { name: string; value: string }[] }
  | { type?: undefined; name: string; command: string; args: string[]; env: { name: string; value: string }[] };

export type SessionInfo = { sessionId: string; cwd: string; title?: string; updatedAt?: string };
