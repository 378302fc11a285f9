import type { JsonObject, JsonValue } from "../protocol/content.ts";

/** Keys of Claude Code that start a program. Outrider never runs them; a project that wants them to is told of. */
export const claudeExecutors: ReadonlySet<string> = new Set([
  "apiKeyHelper",
  "awsAuthRefresh",
  "awsCredentialExport",
  "fileSuggestion",
  "gcpAuthRefresh",
  "managedMcpServers",
  "otelHeadersHelper",
  "policyHelper",
  "sandbox.bwrapPath",
  "sandbox.ripgrep",
  "sandbox.socatPath",
  "statusLine",
  "subagentStatusLine",
]);

/** Keys of Claude Code that forbid something, and that Outrider does not enforce: a user who relies on one must hear that. */
export const claudeLimits: ReadonlySet<string> = new Set([
  "allowManagedHooksOnly",
  "allowManagedMcpServersOnly",
  "allowManagedPermissionRulesOnly",
  "allowedMcpServers",
  "availableModels",
  "claudeMdExcludes",
  "deniedMcpServers",
  "enforceAvailableModels",
  "httpHookAllowedEnvVars",
  "sandbox.credentials",
  "sandbox.network.allowManagedDomainsOnly",
  "sandbox.network.deniedDomains",
  "strictPluginOnlyCustomization",
]);

/** Keys of Claude Code that mean nothing to a run of Outrider. */
const unused: ReadonlySet<string> = new Set(
  `$schema advisorModel agentPushNotifEnabled allowAllClaudeAiMcps allowedChannelPlugins alwaysThinkingEnabled attribution
  autoMemoryDirectory autoMode autoScrollEnabled autoUpdatesChannel awaySummaryEnabled axScreenReader
  blockedMarketplaces channelsEnabled claudeMd cleanupPeriodDays companyAnnouncements defaultShell disableAgentView disableArtifact
  disableAutoMode disableBundledSkills disableClaudeAiConnectors disableDeepLinkRegistration disableRemoteControl disableWorkflows
  editorMode fastMode fastModePerSessionOptIn feedbackSurveyRate footerLinksRegexes forceLoginMethod
  forceLoginOrgUUID forceRemoteSettingsRefresh includeCoAuthoredBy includeGitInstructions inputNeededNotifEnabled
  leftArrowOpensAgents minimumVersion modelOverrides parentSettingsBehavior permissions.disableAutoMode
  permissions.skipDangerousModePermissionPrompt plansDirectory pluginSuggestionMarketplaces pluginTrustMessage prUrlTemplate
  preferredNotifChannel prefersReducedMotion remoteControlAtStartup requiredMaximumVersion requiredMinimumVersion respectGitignore
  respondToBashCommands sandbox.allowAppleEvents sandbox.allowUnsandboxedCommands sandbox.autoAllowBashIfSandboxed
  sandbox.enableWeakerNestedSandbox sandbox.enableWeakerNetworkIsolation sandbox.enabledPlatforms sandbox.excludedCommands
  sandbox.failIfUnavailable sandbox.filesystem.allowManagedReadPathsOnly sandbox.filesystem.allowRead sandbox.ignoreViolations
  sandbox.network.allowAllUnixSockets sandbox.network.allowLocalBinding sandbox.network.allowMachLookup
  sandbox.network.allowUnixSockets sandbox.network.httpProxyPort sandbox.network.socksProxyPort showClearContextOnPlanAccept
  showThinkingSummaries showTurnDuration skipAutoPermissionPrompt
  skipDangerousModePermissionPrompt skipWebFetchPreflight skippedMarketplaces skippedPlugins spinnerTipsEnabled spinnerTipsOverride
  spinnerVerbs sshConfigs sshHostAllowlist strictKnownMarketplaces syntaxHighlightingDisabled teammateMode
  terminalProgressBarEnabled theme tui useAutoModeDuringPlan verbose viewMode voice voiceEnabled wheelScrollAccelerationEnabled
  workflowKeywordTriggerEnabled worktree wslInheritsWindowsSettings`.split(/\s+/),
);

/** Keys of Claude Code that say who answers, and how: see `claude-choices.ts`. */
export function isClaudeChoice(key: string): boolean {
  return ["model", "fallbackModel", "effortLevel", "agent"].includes(key);
}

export function isClaudeKey(key: string): boolean {
  return isClaudeChoice(key) || unused.has(key) || claudeExecutors.has(key) || claudeLimits.has(key);
}

/** Permission modes of Claude Code that Outrider has not; where one is written, the mode below it stays. */
export const claudeModes: ReadonlySet<JsonValue> = new Set(["auto", "delegate"]);

/** Claude Code's names for settings of ours. */
export const claudeNames: ReadonlyMap<string, string> = new Map([
  ["autoCompactEnabled", "compaction.enabled"],
  ["fileCheckpointingEnabled", "checkpoints.enabled"],
  ["sandbox.filesystem.allowWrite", "sandbox.allowWrite"],
  ["sandbox.filesystem.denyRead", "sandbox.denyRead"],
  ["sandbox.filesystem.denyWrite", "sandbox.denyWrite"],
  ["sandbox.network.allowedDomains", "sandbox.network.domains"],
]);

/** `sandbox.enabled` as a mode; with `failIfUnavailable` a run without a sandbox is refused. */
export function toSandboxMode(enabled: boolean, sandbox: JsonObject): string {
  if (!enabled) return "off";
  return sandbox["failIfUnavailable"] === true ? "require" : "auto";
}
