/**
 * Unstable: names here change with the command, in any version, without notice. `InteractiveSession`, `createQuery` and `SessionHost` of the main
 * entry point are the stable ways to open sessions. What a program needs that starts sessions the way the command does: settings, permissions, output.
 */
export { claimProcess } from "../workspace/process-guard.ts";
export { outriderHome } from "../settings/home.ts";
export {
  checkNamedProvider,
  type LoadedProvider,
  loadFallback,
  loadProvider,
  type ProviderChoice,
} from "../settings/load-provider.ts";
export { type Profile, type ProviderSettingsFile, suggestProfileKey } from "../settings/profiles.ts";
export { loadCatalogOverride, loadUserSettings } from "../settings/user-settings.ts";
export { type ClaudeFormatOptions, createClaudeFormat, loadPartialMessages } from "../transports/headless/claude-format.ts";
export { eventUuid, frameUuid } from "../transports/headless/frame-uuid.ts";
export type { ModelCall } from "../transports/headless/run-totals.ts";
export { LineOutput } from "../transports/headless/line-output.ts";
export {
  type AnsweredPrompts,
  type OutputFormat,
  type OutputFormatName,
  type ShownOutcome,
  outputFormatNames,
} from "../transports/headless/output-format.ts";
export { createTextFormat } from "../transports/headless/text-format.ts";
export { runPrompt } from "../transports/headless/run-prompt.ts";
export { editDistance, nearest } from "../util/nearest.ts";
export { createIdSeries, randomUuid } from "../util/unique-ids.ts";
export { modelKeys, scrubEnvironment, userEnvironment } from "../workspace/environment.ts";
export { createAuditLog } from "../permissions/audit.ts";
export { createGrants, type Grants } from "../permissions/grants.ts";
export { findProjectRoot, loadLayers, parseSettingSources, type SettingsLayer } from "../settings/layers.ts";
export { resolveLayers } from "../settings/load-settings.ts";
export { noSettings, type Provenance, type ResolvedSettings } from "../settings/settings.ts";
export { type Instructions, loadInstructions } from "../context/instructions.ts";
export { secretsIn } from "../util/secret-names.ts";
export { makeFolder } from "../util/make-folder.ts";
export { replaceFileSync } from "../util/replace-file.ts";
export { createRedactor, type Redactor } from "../util/redact.ts";
export {
  type BeginServers,
  beginServers,
  type OpenedSession,
  type Opening,
  openSession,
  type ServerConnections,
  toOptions,
} from "../hosting/open-session.ts";
export { ownKeys } from "../hosting/child-environment.ts";
export { chooseProvider } from "../hosting/choose-provider.ts";
export { resolveModelWord } from "../hosting/model-words.ts";
export { sandboxOptions } from "../hosting/permission-options.ts";
export { ignoredWords } from "../protocol/ignored-words.ts";
export { type Planning, planSession, type SessionPlan } from "../hosting/plan-session.ts";
export { existingFolder, openProject, resolveProject } from "../hosting/project.ts";
export type { ChooseSession, SessionChoice, SessionRequest } from "../hosting/session-request.ts";
export { type Surroundings, surroundingsOf } from "../hosting/surroundings.ts";
