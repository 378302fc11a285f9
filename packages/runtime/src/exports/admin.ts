/**
 * Unstable: names here change with the command, in any version, without notice.
 * For looking after what sessions leave and obey: trust, permissions, checkpoints, prices; and what few runs need. A run loads none of it before it needs it.
 */
export { type CatalogLine, listCatalog } from "../model/list-catalog.ts";
export { type DescribedPrompt, describePrompt } from "../hosting/describe-prompt.ts";
export { type ExplainedCall, explainCall } from "../hosting/explain-call.ts";
export { type Explanation, explainPermission } from "../permissions/explain.ts";
export { type CaseVerdict, isAsExpected, judgeCase, type PermissionCase, parseCase } from "../permissions/judge-case.ts";
export { presetNames, unknownPreset } from "../permissions/preset-names.ts";
export { rulesOfPreset } from "../permissions/presets.ts";
export { lintRule, type RuleProblem } from "../permissions/lint-rule.ts";
export { checkRuleTool, unknownTool, unofferedTool } from "../permissions/tool-names.ts";
export { unknownToolsOf } from "../tasks/unknown-tools.ts";
export { boxReach } from "../session/files/sandboxed-mode.ts";
export { toRecording } from "../session/past/recorded-calls.ts";
export {
  type Checkpoints,
  type CheckpointInspection,
  type CheckpointSummary,
  createCheckpoints,
} from "../checkpoints/checkpoints.ts";
export { expireCheckpoints, sessionsWithCheckpoints } from "../checkpoints/expire.ts";
export type { RestorePlan } from "../checkpoints/plan.ts";
export type { RestoreResult } from "../checkpoints/restore.ts";
export { type AuditRecord, readAuditLog } from "../permissions/audit.ts";
export type { FolderEntry } from "../permissions/glob-words.ts";
export { createProgramFinder } from "../permissions/program-finder.ts";
export { isOwnerAlive, parseOwner } from "../journal/lock-owner.ts";
export { createGit, type Git } from "../tasks/worktrees/git.ts";
export { inspectWorktree } from "../tasks/worktrees/inspect-worktree.ts";
export { type ListedWorktree, listWorktrees } from "../tasks/worktrees/list-worktrees.ts";
export { ownerIn } from "../tasks/worktrees/lock-reason.ts";
export { collectWorktree, type SettledWorktree } from "../tasks/worktrees/settle-worktree.ts";
export { describeWork, type Worktree, type WorktreeWork } from "../tasks/worktrees/worktree.ts";
export { createLocalWorkspace, type LocalWorkspace } from "../workspace/local.ts";
export { inertGit } from "../workspace/inert-git.ts";
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
export {
  type NewUserLocalMemory,
  readEnabledUserLocalMemoryItem,
  UserLocalMemory,
  type UserLocalMemoryCategory,
  type UserLocalMemoryItem,
  type UserLocalMemoryOptions,
  type UserLocalMemoryProjection,
  userLocalMemoryCategories,
} from "../settings/user-local/memory.ts";
export { runUserLocal, userLocalUsage } from "../settings/user-local/run-user-local.ts";
export {
  checkUserLocalRoot,
  listUserLocalStorage,
  userLocalCategories,
  type UserLocalCategory,
  type UserLocalItem,
  type UserLocalPlace,
  type UserLocalStorage,
} from "../settings/user-local/storage.ts";
export { chooseProfile, removeProfile, saveProfile } from "../settings/edit-profiles.ts";
export {
  forgetServer,
  saveServer,
  type ServerScope,
  serverFiles,
  type WrittenServer,
  writtenServers,
} from "../hosting/server-files.ts";
export { createSecretHider } from "../settings/hide-secrets.ts";
export { childEnvironment } from "../hosting/child-environment.ts";
export { connectServers } from "../hosting/connect-servers.ts";
export { logIn, logOut } from "../tools/mcp/auth/log-in.ts";
export { openLoopback, personBehind } from "../tools/mcp/auth/loopback.ts";
export { type ServerPlan, planServers } from "../hosting/plan-servers.ts";
export { bundledRipgrep } from "../tools/ripgrep.ts";
export { whyProcessesMayStay } from "../workspace/own-limit.ts";
export { detectSandbox, type SandboxAvailability } from "../workspace/detect-sandbox.ts";
export { expireWhenDue } from "../checkpoints/expire.ts";
export { type Collected, type CollectOptions, collectGarbage } from "../journal/collect-garbage.ts";
export type { ForkOrigin, SessionSummary } from "../journal/store.ts";
export { listSpending, type SessionSpending, type SpentCall } from "../journal/spending-index.ts";
export {
  formatCommandSessionReplayValidationReport,
  type SessionReplayIssue,
  type SessionReplayIssueCode,
  type SessionReplayReport,
  type SessionReplayValidation,
  validateCommandSessionReplayLog,
  validateSessionReplayLogEntries,
} from "../session/past/replay-validation.ts";
export { asAgent } from "../session/subagents/as-agent.ts";
export { builtinAgents, mergeAgents } from "../tasks/agent-definition.ts";
export { withMorePlugins } from "../hosting/plan-plugins.ts";
export { parseAgents } from "../tasks/parse-agents.ts";
export { askForOwnModels, saveListedModels } from "../settings/listed-models.ts";
export { aliasesAt } from "../model/aliases.ts";
export { recordAt } from "../model/capabilities/chat.ts";
export type { ModelRecord } from "../model/capabilities/record.ts";
export { chooseModel } from "../tasks/choose-model.ts";
export { loadAgentFiles } from "../tasks/agent-files.ts";
export { type PricedRun, priceCalls } from "../transports/headless/price-run.ts";
export { readJournalFile } from "../journal/mend.ts";
export { exportTrace, type TraceExport } from "../traces/export-trace.ts";
export { standingEvents } from "../journal/standing-events.ts";
export { createCalibanFormat } from "../transports/headless/caliban-format.ts";
export { createBasicFormat } from "../transports/headless/basic-format.ts";
export { inspectImage } from "../model/sendable/inspect-image.ts";
export { toSendableContent } from "../model/sendable/sendable-content.ts";
export { refusalOf } from "../model/sendable/sendable-image.ts";
export { binaryKind } from "../tools/file-kind.ts";
