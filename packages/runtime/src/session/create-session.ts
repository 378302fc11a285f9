import { randomUUID } from "node:crypto";
import type { SystemCommand } from "../commands/command.ts";
import { buildSystemPrompt } from "../context/system-prompt.ts";
import type { TurnDeps } from "../engine/turn.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import type { JournalWriter, SessionStore } from "../journal/store.ts";
import type { Provider } from "../model/model.ts";
import type { Policy } from "../permissions/decide.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent, SessionFacts } from "../protocol/events.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { createBuiltinTools } from "../tools/builtin/builtin-tools.ts";
import type { WebSearchBackend } from "../tools/builtin/web-search.ts";
import { defaultOutputLimit } from "../tools/output-limit.ts";
import { createToolMemory, type Tool } from "../tools/tool.ts";
import { scrubEnvironment } from "../workspace/environment.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import type { Workspace } from "../workspace/workspace.ts";

declare const OUTRIDER_VERSION: string;

export type SessionOptions = {
  readonly cwd: string;
  readonly provider: Provider;
  /** The provider's own default when absent. */
  readonly model?: string;
  /** A new session under this id; refused when it exists. */
  readonly sessionId?: string;
  /** Goes on with a stored session; refused when it does not exist. */
  readonly resumeSessionId?: string;
  /** In memory when absent. */
  readonly sessionStore?: SessionStore;
  readonly permissionMode?: PermissionMode;
  /** Rules such as `Edit` or `Bash(npm test:*)`. */
  readonly allowedTools?: readonly string[];
  /** The same; a bare tool name also takes the tool away from the model. */
  readonly disallowedTools?: readonly string[];
  /** Takes the place of the built-in system prompt. */
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** How often the model may be asked for one prompt. */
  readonly maxTurns?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly thinkingTokens?: number;
  /** Tools beside the built-in ones; one with the name of a built-in takes its place. */
  readonly tools?: readonly Tool[];
  readonly webSearch?: WebSearchBackend;
  readonly commands?: readonly SystemCommand[];
  /** Somebody listens to `permission_request` and will call `answerPermission`. Without it, what would be asked is denied. */
  readonly answersPermissions?: boolean;
  /** What child processes see; the own environment without secrets when absent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  /** Where outputs too long for the model are kept whole. */
  readonly overflowDirectory?: string;
  /** Characters of one tool result. */
  readonly outputLimit?: number;
  readonly now?: () => Date;
  readonly newId?: () => string;
};

/** Everything a turn needs that stays the same for the whole session. */
export type OpenSession = {
  readonly journal: JournalWriter;
  readonly workspace: Workspace;
  readonly facts: SessionFacts;
  readonly system: string;
  readonly deps: Omit<TurnDeps, "emit" | "flush" | "congestion" | "signal">;
};

/** The only place in the library where parts are put together. */
export async function createSession(options: SessionOptions, id: string, gate: PermissionGate): Promise<OpenSession> {
  const env = options.env ?? scrubEnvironment(process.env);
  const home = options.home ?? env["HOME"];
  const overflowDirectory = options.overflowDirectory ?? `${env["TMPDIR"] ?? "/tmp"}/outrider-${id}`;
  const workspace = await createLocalWorkspace({
    root: options.cwd,
    env,
    overflowDirectory,
    ...(home !== undefined && { home }),
  });
  const journal = await openJournal(options, id);
  const tools = offeredTools(options);
  const policy: Policy = {
    mode: options.permissionMode ?? "default",
    allow: toRules(options.allowedTools),
    deny: toRules(options.disallowedTools),
    base: { root: workspace.root, home },
    readable: [overflowDirectory],
  };
  const model = { provider: options.provider.name, id: options.model ?? options.provider.model };
  const names = [...tools.keys()];
  const system = storedSystem(options, journal.events) ?? systemPromptOf(options, workspace.root, names);
  return {
    journal,
    workspace,
    system,
    facts: { cwd: workspace.root, model, tools: names, permissionMode: policy.mode, version: OUTRIDER_VERSION },
    deps: {
      provider: options.provider,
      request: {
        model: model.id,
        system,
        tools: [...tools.values()].map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
        ...(options.maxOutputTokens !== undefined && { maxOutputTokens: options.maxOutputTokens }),
        ...(options.temperature !== undefined && { temperature: options.temperature }),
        ...(options.thinkingTokens !== undefined && { thinkingTokens: options.thinkingTokens }),
      },
      maxTurns: options.maxTurns,
      tools,
      workspace,
      memory: createToolMemory(),
      policy: () => policy,
      gate,
      answerable: options.answersPermissions ?? false,
      outputLimit: options.outputLimit ?? defaultOutputLimit,
      newId: options.newId ?? randomUUID,
      clock: () => performance.now(),
    },
  };
}

async function openJournal(options: SessionOptions, id: string): Promise<JournalWriter> {
  const journal = await (options.sessionStore ?? createMemoryStore()).open(id);
  const exists = journal.events.length > 0;
  if (options.resumeSessionId !== undefined && !exists) {
    await journal.close();
    throw new RuntimeError("not-found", `There is no session ${id}`);
  }
  if (options.resumeSessionId === undefined && exists) {
    await journal.close();
    throw new RuntimeError("usage", `Session ${id} exists already`, { hint: "Choose another session id, or resume this one" });
  }
  return journal;
}

function offeredTools(options: SessionOptions): Map<string, Tool> {
  const builtin = createBuiltinTools(options.webSearch ? { webSearch: options.webSearch } : {});
  const tools = new Map([...builtin, ...(options.tools ?? [])].map((tool) => [tool.name, tool]));
  for (const rule of toRules(options.disallowedTools)) if (rule.pattern === undefined) tools.delete(rule.tool);
  return tools;
}

function toRules(texts: readonly string[] | undefined): Rule[] {
  return (texts ?? []).map(parseRule);
}

/** A resumed session keeps its prompt to the letter, so that providers still find it in their cache. */
function storedSystem(options: SessionOptions, events: readonly AgentEvent[]): string | undefined {
  if (options.systemPrompt !== undefined || options.appendSystemPrompt !== undefined) return undefined;
  return events.findLast((event) => event.type === "session.started")?.system;
}

function systemPromptOf(options: SessionOptions, cwd: string, tools: readonly string[]): string {
  const date = options.now?.() ?? new Date();
  const system = options.systemPrompt ?? buildSystemPrompt({ cwd, platform: process.platform, date, tools });
  return options.appendSystemPrompt === undefined ? system : [system, options.appendSystemPrompt].filter(Boolean).join("\n\n");
}
