import { isSessionId } from "../journal/store-place.ts";
import { parseRule } from "../permissions/rules.ts";
import {
  abortSignal,
  action,
  amount,
  anyText,
  count,
  either,
  exactly,
  fields,
  flag,
  having,
  type Kind,
  kind,
  listOf,
  needed,
  oneOf,
  place,
  recordOf,
  shape,
  text,
} from "../protocol/kinds.ts";
import { permissionModes } from "../protocol/permission.ts";
import { isRecord } from "../util/is-record.ts";
import type { AskOptions, QueryOptions } from "./query.ts";
import type { InteractiveSessionOptions } from "./interactive-session.ts";
import type { HostedRequest, SessionHostOptions } from "./session-host.ts";

/** What an option holds. */
type Of<Name extends keyof InteractiveSessionOptions> = NonNullable<InteractiveSessionOptions[Name]>;

const provider = having(["stream"], "a provider, such as createAnthropicProvider({ apiKey }) makes");
const names = listOf(text, "a list of texts");
const rule = kind("a rule such as Edit or Bash(npm test:*)", (value) => typeof value === "string" && isRule(value));
const rules = listOf(rule, "a list of rules such as Edit or Bash(npm test:*)");
const written = listOf(
  shape({ text: needed(rule), source: needed(text) }, "a rule { text, source }"),
  "a list of rules { text, source }",
);
const variable = kind("the name of a variable", (value) => typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value));
const variables = listOf(variable, "a list of names of variables");
const share = kind(
  "a share between 0 and 1, or false",
  (value) => value === false || (typeof value === "number" && value > 0 && value <= 1),
);
const sandboxModes = ["auto", "require", "off"];
const sandboxMode = oneOf(sandboxModes);
const settingSources = listOf(oneOf(["user", "project", "local"]), "a list of user, project, local");
const without = listOf(
  oneOf(["instructions", "agents", "skills", "hooks", "servers", "plugins"]),
  "a list of instructions, agents, skills, hooks, servers, plugins",
);
const serverFile = shape({ value: needed(fields), source: needed(text) }, "");
const servers: Kind = (value) => {
  if (isRecord(value)) return undefined;
  if (Array.isArray(value) && value.every(isRecord)) return listOf(serverFile, "")(value);
  return { at: "", wanted: "an object of servers by name, as .mcp.json has them", value };
};
const store = having(["open", "read", "has", "fork"], "a store, such as createFileStore(directory) makes");

const withoutNul = kind("a text without NUL characters", (value) => !String(value).includes("\0"));
const newSession = kind(
  'letters, digits, "-" and "_", at most 128 of them',
  (value) => typeof value === "string" && isSessionId(value),
);

/** Every option of a session; the compiler holds the list to be complete. */
export const sessionKinds: Readonly<Record<keyof InteractiveSessionOptions, Kind>> = {
  cwd: needed(text),
  provider: needed(provider),
  model: text,
  sessionId: (value) => text(value) ?? newSession(value),
  resumeSessionId: text,
  resumeAt: place,
  forkSession: flag,
  sessionStore: store,
  sessionName: text,
  projectMemory: anyText,
  taskContext: anyText,
  memory: having(["root"], "an object with the top of a project"),
  transcriptPath: text,
  outriderHome: text,
  home: text,
  overflowDirectory: text,
  bare: flag,
  without,
  settings: text,
  settingSources,
  trustProject: flag,
  untrusted: flag,
  warnings: names,

  systemPrompt: anyText,
  agentPrompt: anyText,
  initialPrompt: text,
  openServers: action,
  appendSystemPrompt: anyText,
  instructions: shape({ text: needed(anyText), files: listOf(fields, "a list of files") }, "what loadInstructions found"),
  folderFacts: action,
  language: text,
  outputStyle: exactly<Of<"outputStyle">>(
    { name: needed(text), text: needed(anyText), keepsCoding: flag },
    "a style with name, text and keepsCoding",
  ),
  compaction: exactly<Of<"compaction">>({ threshold: share, instructions: anyText, fileTokens: place }, "an object"),
  maxTurns: count,
  maxRequests: count,
  maxOutputTokens: count,
  maxBudgetUsd: amount,
  allowUnknownPrice: flag,
  outputLimit: count,
  bash: exactly<Of<"bash">>(
    { defaultTimeoutMs: count, maxTimeoutMs: count, outputCharacters: count, staysAtRoot: flag, movesToBackground: flag },
    "an object with defaultTimeoutMs, maxTimeoutMs, outputCharacters, staysAtRoot and movesToBackground",
  ),
  thinkingTokens: place,
  effort: oneOf(["minimal", "low", "medium", "high", "xhigh", "max"]),
  temperature: kind("a number between 0 and 2", (value) => typeof value === "number" && value >= 0 && value <= 2),
  loops: exactly<Of<"loops">>({ noteAt: place, stopAt: place }, "an object with noteAt and stopAt"),
  wakes: flag,
  schedules: flag,
  backgroundTaskRunners: listOf(having(["start"], "a runner { kind, start }"), "a list of runners { kind, start }"),
  inbox: exactly<Of<"inbox">>({ maxPrompts: place, maxBytes: place }, "an object with maxPrompts and maxBytes"),
  providerOptions: fields,
  fallback: exactly<Of<"fallback">>({ model: needed(text), provider, options: fields }, "an object with a model"),
  catalogOverride: shape({ models: needed(listOf(fields, "a list of models")) }, "what parseCatalogOverride answers"),
  modelVariables: recordOf(
    either(
      "a text",
      anyText,
      kind("absent", (value) => value === undefined),
    ),
    "an object of texts by name",
  ),
  planModel: text,
  outputSchema: kind(
    "a schema: JSON Schema, or one of zod or another library",
    (value) => isRecord(value) || typeof value === "function",
  ),

  permissionMode: oneOf(permissionModes),
  promptsFrom: oneOf(["owner", "anybody", "strangers"]),
  commandModes: listOf(oneOf(permissionModes), "a list of permission modes"),
  allowedTools: rules,
  disallowedTools: rules,
  permissions: exactly<Of<"permissions">>(
    {
      allow: written,
      ask: written,
      deny: written,
      root: text,
      otherRoot: text,
      grants: having(["rules", "remember"], "what openGrants answers"),
      additionalDirectories: names,
      runOutside: names,
      networkReads: flag,
      mayBypass: flag,
    },
    "an object with rules",
  ),
  answersPermissions: flag,
  audit: action,
  checkpoints: action,
  subagentRunnerFactory: action,
  reversibleExecution: exactly<Of<"reversibleExecution">>(
    {
      mode: needed(oneOf(["local-first"])),
      isolation: oneOf(["none", "worktree", "provider-sandbox"]),
      enforceUntrackedSideEffects: flag,
    },
    'an object with mode: "local-first"',
  ),
  sandboxMode,
  sandbox: exactly<Of<"sandbox">>(
    {
      mode: needed(sandboxMode),
      allowWrite: names,
      denyRead: names,
      denyWrite: names,
      network: exactly<NonNullable<Of<"sandbox">["network"]>>({ allowed: flag, domains: names }, "an object"),
      limits: fields,
      memoryFile: text,
    },
    "an object with a mode",
  ),
  sandboxClient: having(["run", "readFile", "writeFile"], "a machine with run, readFile and writeFile"),
  editor: having(["covers"], "an editor with covers"),
  workspaceManifest: exactly<Of<"workspaceManifest">>({ root: text, entries: needed(fields) }, "an object with entries"),
  sandboxSnapshotId: text,
  env: recordOf((value) => anyText(value) ?? withoutNul(value), "an object of texts by name"),
  passEnv: variables,
  traceparent: action,
  redactor: having(["text", "value", "known"], "a redactor"),

  tools: listOf(
    shape({ name: needed(text), execute: needed(action), access: needed(action) }, "a tool, as defineTool makes it"),
    "a list of tools, as defineTool makes them",
  ),
  builtinTools: names,
  offers: action,
  toolAliases: recordOf(text, "an object of names of tools"),
  webSearch: action,
  agents: listOf(
    exactly<Of<"agents">[number]>(
      {
        name: needed(text),
        description: needed(anyText),
        prompt: needed(anyText),
        tools: names,
        disallowedTools: names,
        model: text,
        maxTurns: count,
        effort: oneOf(["low", "medium", "high"]),
        isolation: oneOf(["worktree"]),
        background: flag,
        skills: names,
        hooks: fields,
        mcpServers: fields,
        memory: oneOf(["user", "project", "local"]),
        memoryFolder: text,
        initialPrompt: text,
        omitInstructions: flag,
        permissionMode: oneOf(permissionModes),
        onlyLooks: flag,
        source: text,
      },
      "an agent with a name",
    ),
    "a list of agents with name, description and prompt",
  ),
  setup: oneOf(["init", "maintenance"]),
  maxObjections: count,
  builtinAgents: flag,
  subagentModel: text,
  backgroundAgents: flag,
  mainAgent: text,
  agent: fields,
  slashCommands: either('true, false or "known"', flag, oneOf(["known"])),
  answersInteractions: flag,
  commandAdapters: exactly<Of<"commandAdapters">>(
    {
      applyEffect: action,
      userLocal: action,
      plugins: action,
      outputStyle: action,
      language: action,
      repository: action,
      providerSettings: action,
    },
    "an object with what the program can do for commands",
  ),
  commandModules: listOf(shape({ name: needed(text) }, "a module with a name"), "a list of command modules"),
  serverPrompts: having(["list", "get"], "an object with the prompts of servers"),
  skills: having(["trusted"], "an object with the skills that were found"),
  commands: listOf(shape({ name: needed(text), execute: needed(action) }, "a command with a name"), "a list of commands"),
  hooks: fields,
  hookSettings: shape({ sources: needed(listOf(fields, "a list of sources")) }, "an object with sources"),
  mcpServers: servers,
  requireServers: flag,
  plugins: listOf(
    exactly<Of<"plugins">[number]>(
      { path: needed(text), skipMcpDiscovery: flag, isAddress: flag, type: oneOf(["local"]) },
      "{ path }, a folder",
    ),
    "a list of { path }",
  ),

  now: action,
  newId: action,
};

const { cwd: _cwd, provider: _provider, model, bare, settings, trustProject, ...rest } = sessionKinds;
const {
  mcpServers,
  requireServers,
  plugins,
  mainAgent,
  forkSession: _fork,
  outriderHome: _home,
  without: _without,
  ...own
} = rest;
const choice = either(
  'a function, or an object whose type is "new", "resume" or "fork"',
  action,
  shape({ type: needed(oneOf(["new", "resume", "fork"])), id: text, from: text, at: place, name: text, seed: action }, ""),
);

/** Every part of a request to a host. */
export const requestKinds: Readonly<Record<keyof HostedRequest, Kind>> = {
  ...{
    bare,
    without,
    settingSources,
    settings,
    trustProject,
    sandboxMode,
    mcpServers,
    requireServers,
    plugins,
    mainAgent,
    model,
  },
  cwd: text,
  worktree: either(
    "true, or the name of one",
    kind("true", (value) => value === true),
    text,
  ),
  provider: either("a provider, or the name of one", provider, text),
  fallbackModel: text,
  recording: shape({ type: needed(oneOf(["replay", "record"])) }, "an object with a type"),
  session: choice,
  keepsChanges: listOf(oneOf(["permissionMode", "model"]), 'a list of "permissionMode" and "model"'),
  persistent: flag,
  settingsName: text,
  hiddenVariables: names,
  serverTimeouts: exactly<NonNullable<HostedRequest["serverTimeouts"]>>(
    { connectMs: amount, callMs: amount },
    "an object with connectMs and callMs",
  ),
  permissionTool: text,
  options: fields,
  opening: fields,
};

/** What `options` of a request may hold; the rest is said beside them. */
export const requestOptionKinds: Readonly<Record<keyof NonNullable<HostedRequest["options"]>, Kind>> = {
  ...own,
  loadedPlugins: fields,
  projectTrust: fields,
  ignoredSettings: fields,
};

export const hostKinds: Readonly<Record<keyof SessionHostOptions, Kind>> = {
  defaults: fields,
  outriderHome: text,
  around: shape({ env: needed(fields), userHome: needed(text), outriderHome: needed(text), cwd: needed(text) }, "an object"),
  warn: action,
  maxSessions: count,
  idleMs: amount,
};

export const queryKinds: Readonly<Record<keyof QueryOptions, Kind>> = {
  ...sessionKinds,
  cwd: text,
  onTextDelta: action,
  onCompact: action,
};

export const askKinds: Readonly<Record<keyof AskOptions, Kind>> = { signal: abortSignal };

function isRule(value: string): boolean {
  try {
    parseRule(value);
    return true;
  } catch {
    return false;
  }
}
