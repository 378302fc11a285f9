export { type CommandHost, type CommandResult, parseCommand, type SystemCommand } from "../commands/command.ts";
export { createFileStore } from "../journal/file-store.ts";
export { createMemoryStore } from "../journal/memory-store.ts";
export type { JournalWriter, SessionStore } from "../journal/store.ts";
export { toMessages } from "../journal/transcript.ts";
export type { Effort, ModelClient, ModelEvent, ModelRequest, Provider } from "../model/model.ts";
export { type AnthropicOptions, createAnthropicProvider } from "../model/providers/anthropic.ts";
export { fromAiSdk } from "../model/ai-sdk.ts";
export { type CatalogOverride, parseCatalogOverride } from "../model/catalog-override.ts";
export { type Fallback, withFallback } from "../model/fallback.ts";
export { type CatalogLine, listCatalog } from "../model/list-catalog.ts";
export { createProvider } from "../model/providers/create-provider.ts";
export type { ProviderDefinition, ProviderSettings } from "../model/providers/definition.ts";
export { findProvider, providerDefinitions } from "../model/providers/definitions.ts";
export { type Cassette, createReplayProvider, parseCassette, type Places, toCassette, withRecorder } from "../model/replay.ts";
export { createScriptedProvider, parseScript, type ScriptedReply } from "../model/scripted.ts";
export { type Explanation, explainPermission } from "../permissions/explain.ts";
export { type CaseVerdict, isAsExpected, judgeCase, type PermissionCase, parseCase } from "../permissions/judge-case.ts";
export { lintRule, type RuleProblem } from "../permissions/lint-rule.ts";
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
export type { AgentEvent, AgentEvents, DiffLine, EventType, ToolDetails, ToolStatus } from "../protocol/events.ts";
export { isEphemeral } from "../protocol/events.ts";
export type { CancelCause, Outcome, StopLimit } from "../protocol/outcome.ts";
export { isPermissionMode, type PermissionMode, permissionModes } from "../protocol/permission.ts";
export type { SessionOptions } from "../session/create-session.ts";
export type { SubscribeOptions } from "../session/event-hub.ts";
export {
  type ContextState,
  chatEntryToMessage,
  type HistoryEntry,
  isChatEntry,
  type ToolState,
  type UsageSnapshot,
} from "../session/history.ts";
export { InteractiveSession, type TransportAdapter } from "../session/interactive-session.ts";
export { createQuery, type QueryOptions } from "../session/query.ts";
export { toRecording } from "../session/recorded-calls.ts";
export type { ExecutionResult, PermissionRequest, SessionEventName, SessionEvents } from "../session/session-view.ts";
export { outriderHome } from "../settings/home.ts";
export {
  checkNamedProvider,
  type LoadedProvider,
  loadFallback,
  loadProvider,
  type ProviderChoice,
} from "../settings/load-provider.ts";
export { type Profile, type ProviderSettingsFile, suggestProfileKey } from "../settings/profiles.ts";
export { loadCatalogOverride, loadUserSettings, saveProfile } from "../settings/user-settings.ts";
export type { WebSearchBackend } from "../tools/builtin/web-search.ts";
export type { SchemaSource } from "../tools/schema.ts";
export { type Access, defineTool, type Tool, type ToolContext, ToolFailure, type ToolOutput } from "../tools/tool.ts";
export { createClaudeFormat } from "../transports/headless/claude-format.ts";
export {
  createHeadlessRunner,
  createHeadlessTransport,
  type HeadlessRunnerOptions,
  type HeadlessTransportOptions,
} from "../transports/headless/headless-runner.ts";
export { LineOutput } from "../transports/headless/line-output.ts";
export { type OutputFormat, type OutputFormatName, outputFormatNames } from "../transports/headless/output-format.ts";
export { runPrompt } from "../transports/headless/run-prompt.ts";
export { nearest } from "../util/nearest.ts";
export { createIdSeries, randomUuid } from "../util/unique-ids.ts";
export { scrubEnvironment } from "../workspace/environment.ts";
export type { RunCommand, RunResult, Workspace } from "../workspace/workspace.ts";
export {
  type Checkpoints,
  type CheckpointInspection,
  type CheckpointSummary,
  createCheckpoints,
} from "../checkpoints/checkpoints.ts";
export { expireCheckpoints, sessionsWithCheckpoints } from "../checkpoints/expire.ts";
export type { RestorePlan } from "../checkpoints/plan.ts";
export type { RestoreResult } from "../checkpoints/restore.ts";
export { type AuditRecord, createAuditLog, readAuditLog } from "../permissions/audit.ts";
export { inspectRepository } from "../permissions/git-repository.ts";
export { createGrants, type Grants } from "../permissions/grants.ts";
export { findProjectRoot, loadLayers, parseSettingSources, type SettingsLayer } from "../settings/layers.ts";
export { loadSettings, resolveLayers } from "../settings/load-settings.ts";
export type { Provenance, ResolvedSettings } from "../settings/settings.ts";
export {
  forgetTrust,
  inspectProject,
  judgeTrust,
  listTrust,
  type ProjectInspection,
  rememberTrust,
  type TrustJudgement,
} from "../settings/trust.ts";
export type { Executor } from "../settings/trust-executors.ts";
