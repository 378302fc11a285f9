/** Sessions, queries, tools, providers, stores: what programs are made of. */
export {
  type CapabilitySafety,
  type CommandEffect,
  type CommandHostAdapters,
  type CommandHostContext,
  type CommandInteraction,
  type CommandInteractionPrompt,
  type CommandModule,
  type CommandResult,
  type CommandSessionInfo,
  type CommandSummary,
  parseCommand,
  type SystemCommand,
} from "../commands/command.ts";
export { createFileStore } from "../journal/file-store.ts";
export { createMemoryStore } from "../journal/memory-store.ts";
export type { JournalWriter, ReadOptions, SessionStore, StoredEvents, SummariesOptions } from "../journal/store.ts";
export { toStoredEvents } from "../journal/stored-events.ts";
export { toMessages } from "../journal/transcript.ts";
export type { Effort, ModelClient, ModelEvent, ModelRequest, Provider } from "../model/model.ts";
export { type AnthropicOptions, createAnthropicProvider } from "../model/providers/anthropic.ts";
export { type AiSdkModel, type AiSdkOptions, type AiSdkStream, fromAiSdk } from "../model/ai-sdk.ts";
export { type CatalogOverride, parseCatalogOverride } from "../model/catalog-override.ts";
export { type Fallback, withFallback } from "../model/fallback.ts";
export { createProvider } from "../model/providers/create-provider.ts";
export type { ProviderDefinition, ProviderSettings } from "../model/providers/definition.ts";
export { findProvider, providerDefinitions } from "../model/providers/definitions.ts";
export { type Cassette, createReplayProvider, parseCassette, type Places, toCassette, withRecorder } from "../model/replay.ts";
export { createScriptedProvider, parseScript, type ScriptedReply } from "../model/scripted.ts";
export type { Decision, Policy } from "../permissions/policy.ts";
export { parseRule, type Rule } from "../permissions/rules.ts";
export type {
  AssistantMessage,
  AssistantPart,
  FinishReason,
  ImagePart,
  JsonObject,
  JsonValue,
  Message,
  ModelRef,
  OpaquePart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolDefinition,
  ToolMessage,
  ToolResultPart,
  Usage,
  UserMessage,
} from "../protocol/content.ts";
export { type ErrorCode, type ErrorData, RuntimeError, toRuntimeError } from "../protocol/errors.ts";
export type { AgentEvent, AgentEvents, DiffLine, EventType, PromptMode, ToolDetails, ToolStatus } from "../protocol/events.ts";
export { isEphemeral } from "../protocol/events.ts";
export type { CancelCause, DeferredCall, Outcome, StopLimit } from "../protocol/outcome.ts";
export { isPermissionMode, type PermissionMode, permissionModes } from "../protocol/permission.ts";
export type { SessionOptions } from "../session/session-options.ts";
export type { SubscribeOptions } from "../session/events/event-hub.ts";
export {
  type ContextState,
  type ContextState as ContextWindowState,
  chatEntryToMessage,
  getMessagesForAPI,
  messageToHistoryEntry,
  type HistoryEntry,
  isChatEntry,
  type ToolState,
  type ToolState as ToolSummary,
  type UsageSnapshot,
} from "../session/past/history.ts";
export { InteractiveSession, type InteractiveSessionOptions } from "../hosting/interactive-session.ts";
export {
  type HeldSession,
  type HostedRequest,
  type HostedSummary,
  SessionHost,
  type SessionHostOptions,
} from "../hosting/session-host.ts";
export type { SessionChoice, SessionRequest } from "../hosting/session-request.ts";
export type { ShutdownOptions } from "../session/end-session.ts";
export type { TransportAdapter } from "../session/transport-adapter.ts";
export type { AcceptedPrompt, WaitingPrompt } from "../session/prompts/session-turns.ts";
export type { InboxLimits, SubmitOptions } from "../session/prompts/inbox.ts";
export { type AskOptions, createQuery, type Query, type QueryOptions, type QueryResult } from "../hosting/query.ts";
export type {
  ExecutionResult,
  PermissionRequest,
  SessionEventName,
  SessionEvents,
  SessionEvents as InteractiveSessionEvents,
} from "../session/session-view.ts";
export { type AgentOptions, type AiSdkTool, createAgent } from "../hosting/create-agent.ts";
export { createTerminalOutput, promptForApproval, type TerminalOutput } from "../hosting/prompt-for-approval.ts";
export { type ProjectPaths, projectPaths, type UserPaths, userPaths } from "../settings/paths.ts";
export {
  type BuiltinToolOptions,
  createBuiltinTools,
  createBuiltinTools as createDefaultTools,
} from "../tools/builtin/builtin-tools.ts";
export {
  applyPatchTool,
  bashTool,
  editTool,
  globTool,
  grepTool,
  notebookEditTool,
  readTool,
  todoWriteTool,
  webFetchTool,
  webSearchTool,
  writeTool,
} from "../tools/builtin/direct-tools.ts";
export type { WebSearchBackend } from "../tools/builtin/web-search.ts";
export type {
  EarlyZodSchema,
  LibrarySchema,
  SchemaSource,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "../tools/standard-schema.ts";
export type { CallKind, ToolFacts, ToolPresentation } from "../protocol/tool-facts.ts";
export { defineTool, type JsonToolDeclaration, type SchemaToolDeclaration, type ToolDeclaration } from "../tools/define-tool.ts";
export { type Access, type Tool, type ToolContext, ToolFailure, type ToolMemory, type ToolOutput } from "../tools/tool.ts";
export {
  createHeadlessRunner,
  createHeadlessTransport,
  type HeadlessRunnerOptions,
  type HeadlessTransportOptions,
} from "../transports/headless/headless-runner.ts";
export type {
  OutputChunk,
  ProcessEnd,
  RunCommand,
  RunningProcess,
  RunResult,
  StartCommand,
  Workspace,
} from "../workspace/workspace.ts";
export type { HookEntry, HookSettings, HooksByEvent } from "../engine/open-hooks.ts";
export type { AuditEntry } from "../engine/deps.ts";
export type { HookCallback } from "../hooks/hook.ts";
export type { Answer } from "../permissions/gate.ts";
export type { HookEventName } from "../protocol/events.ts";
export type { CompactionSettings } from "../context/compaction-limits.ts";
export type { CompactionReport } from "../session/past/history.ts";
export type { PermissionOptions, WrittenRule } from "../session/session-policy.ts";
export type { SandboxLimits } from "../workspace/box/start-script.ts";
export { createClientWorkspace } from "../workspace/client-workspace.ts";
export { type E2BSandbox, E2BSandboxClient } from "../workspace/e2b-sandbox.ts";
export { InMemorySandboxClient } from "../workspace/memory-sandbox.ts";
export type { SandboxOptions } from "../workspace/sandbox.ts";
export type {
  SandboxClient,
  SandboxProcess,
  SandboxRunOptions,
  SandboxRunResult,
  SandboxStartOptions,
} from "../workspace/sandbox-client.ts";
export { applyWorkspaceManifest, type WorkspaceManifest, type WorkspaceManifestEntry } from "../workspace/workspace-manifest.ts";
export {
  createProjectSessionStore,
  listResumableSessionSummaries,
  type ResumableSessionSummary,
} from "../session/past/project-session-store.ts";
export type { SessionControls } from "../session/session-controls.ts";
export type { AgentDefinition } from "../tasks/agent-definition.ts";
export type {
  BackgroundTaskErrorCategory,
  BackgroundTaskErrorData,
  BackgroundTaskKind,
  BackgroundTaskMetadata,
  BackgroundTaskMode,
  BackgroundTaskResult,
  BackgroundTaskSchedule,
  BackgroundTaskState,
  BackgroundTaskStatus,
  BackgroundTaskTimeoutReason,
} from "../protocol/background-task.ts";
export { BackgroundTaskManager, type BackgroundTaskManagerOptions } from "../tasks/background/background-task-manager.ts";
export {
  appendPrefixedLogLines,
  createBackgroundTaskLogPage,
  type LogSource as BackgroundTaskLogSource,
} from "../tasks/background/log-lines.ts";
export {
  type ExecutionControl,
  type ExecutionWorkspaceEntry,
  type ExecutionWorkspaceFilter,
  type ExecutionWorkspaceSnapshot,
  type ExecutionWorkspaceSource,
  filterExecutionWorkspaceEntries,
} from "../tasks/background/execution-entries.ts";
export type { ExecutionOrigin } from "../tasks/background/execution-origin.ts";
export { createExecutionWorkspaceSnapshot } from "../tasks/background/execution-workspace.ts";
export {
  createExecutionWorkspaceTaskSpawner,
  type ExecutionTaskRequest,
  type ExecutionWorkspaceTaskSpawner,
  type SpawnGround,
} from "../tasks/background/task-spawner.ts";
export type { ExecutionWorkspaceDetail, ExecutionWorkspaceRecord } from "../session/tasks/execution-detail.ts";
export {
  formatTaskContext,
  type LoadTaskContextOptions,
  loadTaskContext,
  type TaskFile,
  type TaskFileStatus,
  type UpdateTaskFileOptions,
  updateTaskFileStatus,
} from "../context/task-context.ts";
export { SubagentManager, type SubagentManagerOptions } from "../tasks/subagents/subagent-manager.ts";
export type {
  PreparedSubagentWorktree,
  SubagentJobHandle,
  SubagentJobMode,
  SubagentJobResult,
  SubagentJobStart,
  SubagentJobState,
  SubagentJobStatus,
  SubagentRunner,
  SubagentSpawnRequest,
  SubagentWorktreeAdapter,
  SubagentWorktreeInspection,
} from "../tasks/subagents/subagent-contract.ts";
export {
  createWorktreeSubagentRunner,
  WorktreeSubagentRunner,
  type WorktreeSubagentRunnerOptions,
} from "../tasks/subagents/worktree-subagent-runner.ts";
export { createGitWorktreeAdapter, type GitWorktreeAdapterOptions } from "../tasks/subagents/git-worktree-adapter.ts";
export {
  type ChildProcessSubagentRunnerOptions,
  createChildProcessSubagentRunner,
} from "../tasks/subagents/child-process-runner.ts";
export { serveSubagentWorker } from "../tasks/subagents/subagent-worker.ts";
export { assembleSubagentPrompt, type AssembleSubagentPromptOptions } from "../tasks/subagents/assemble-prompt.ts";
export { createSubagentLogger, type SubagentLogger } from "../tasks/subagents/subagent-logger.ts";
export { createSubagentSession, type SubagentSessionOptions } from "../session/subagents/create-subagent-session.ts";
export {
  createInProcessSubagentRunner,
  type InProcessSubagentRunnerDeps,
  type SubagentRunnerFactory,
} from "../session/subagents/in-process-runner.ts";
export {
  createScheduledTaskRunner,
  type ScheduledFiring,
  type ScheduledTaskRunnerOptions,
} from "../tasks/schedules/scheduled-runner.ts";
export {
  BackgroundJobOrchestrator,
  type BackgroundJobGroupRequest,
  type BackgroundJobOrchestratorOptions,
  type GroupedTasks,
} from "../tasks/background/job-groups.ts";
export { type BackgroundJobGroupSummary, summarizeBackgroundJobGroup } from "../tasks/background/group-summary.ts";
export type {
  BackgroundJobGroupEvent,
  BackgroundJobGroupState,
  BackgroundJobResult,
  BackgroundJobWaitPolicy,
} from "../protocol/job-group.ts";
export { type BackgroundProcessDeps, createBackgroundProcessTool } from "../tools/builtin/background-process.ts";
export { createLimitedOutputCapture, type LimitedOutputCapture } from "../tasks/background/output-capture.ts";
export type {
  AgentTaskRequest,
  BackgroundTaskEvent,
  BackgroundTaskHandle,
  BackgroundTaskIdFactory,
  BackgroundTaskInput,
  BackgroundTaskListFilter,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskPermissionPolicy,
  BackgroundTaskRequest,
  BackgroundTaskRunner,
  BackgroundTaskRunnerEvent,
  BackgroundTaskStart,
  ProcessTaskRequest,
  ScheduledTaskRequest,
} from "../tasks/background/task-contract.ts";
export { BackgroundTaskError } from "../tasks/background/task-error.ts";
export { type BackgroundTaskTransition, transitionBackgroundTaskStatus } from "../tasks/background/task-status.ts";
export type { FinishedWork, WorkCeilings } from "../session/tasks/finish-work.ts";
export type { BackgroundTasks, ProcessHooks, ProcessSpec, TaskNews, Tasks, TaskWait } from "../tasks/task.ts";
export type { TaskClock } from "../tasks/background/task-watch.ts";
export {
  evaluateReversibleSafety,
  isBlockedByReversibility,
  type ReversibleExecutionOptions,
  type ReversibleSafetyReport,
} from "../checkpoints/reversible-execution.ts";
export {
  planSelfHostingVerification,
  type SelfHostingLoopEvent,
  type SelfHostingLoopState,
  type SelfHostingVerificationPlan,
  transitionSelfHostingLoop,
} from "../verification/self-hosting.ts";
