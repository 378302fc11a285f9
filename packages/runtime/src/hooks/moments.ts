import { parseRule } from "../permissions/rules.ts";
import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { HookEventName } from "../protocol/events.ts";
import type { HookFacts, HookRequest, HookRunner, Hooks, ResumedFacts } from "./hook.ts";
import { defined } from "../util/defined.ts";

type Moment<Facts> = {
  /** What matchers look at. */
  readonly subject?: (facts: Facts) => string;
  readonly fields: (facts: Facts) => JsonObject;
};

/** What Claude Code calls the tool that starts subagents; matchers know it by both names. */
const toolOf = ({ tool }: Pick<HookFacts["PreToolUse"], "tool">): string => (tool === "Task" ? "Agent" : tool);
const toolFields = ({ tool, input, callId, server }: HookFacts["PreToolUse"]): JsonObject => ({
  tool_name: toolOf({ tool }),
  tool_input: input,
  tool_use_id: callId,
  ...(server && { mcp_server: { ...server } }),
});
/** What goes on beside the turn is added for those that are bound to a session. */
const stopFields = ({ text, isAgain }: HookFacts["Stop"]): JsonObject => ({
  stop_hook_active: isAgain,
  last_assistant_message: text,
  background_tasks: [],
  session_crons: [],
});
const agentFields = ({ agent }: HookFacts["SubagentStart"]): JsonObject => ({ agent_id: agent.id, agent_type: agent.type });

const listedFields = ({ id, subject, description }: HookFacts["TaskCreated"]): JsonObject => ({
  task_id: id,
  task_subject: subject,
  task_description: description,
});

/** A server that says nothing asks for a form. */
const modeOf = (request: JsonObject): JsonObject[string] => request["mode"] ?? "form";

const worktreeFields = ({ name, path, branch }: HookFacts["WorktreeCreate"]): JsonObject => ({
  name,
  worktree_path: path,
  branch_name: branch,
});

/** In the words of Claude Code's hooks. Outside this folder only transports that speak them know them. */
const moments: { readonly [E in keyof HookFacts]: Moment<HookFacts[E]> } = {
  PreToolUse: { subject: toolOf, fields: toolFields },
  PermissionRequest: {
    subject: toolOf,
    fields: (facts) => ({ ...toolFields(facts), reason: facts.reason, permission_suggestions: suggestionsOf(facts.rule) }),
  },
  Notification: {
    subject: ({ kind }) => kind,
    fields: ({ kind, message }) => ({ message, notification_type: kind }),
  },
  PostToolUse: {
    subject: toolOf,
    fields: (facts) => ({ ...toolFields(facts), tool_response: facts.response, duration_ms: facts.durationMs }),
  },
  PostToolUseFailure: {
    subject: toolOf,
    fields: (facts) => ({ ...toolFields(facts), error: facts.text, is_interrupt: false, duration_ms: facts.durationMs }),
  },
  PostToolBatch: {
    fields: ({ calls }) => ({ tool_calls: calls.map((call) => ({ ...toolFields(call), tool_response: call.answer })) }),
  },
  Setup: { subject: ({ trigger }) => trigger, fields: ({ trigger }) => ({ trigger }) },
  SessionStart: {
    subject: ({ source }) => source,
    fields: ({ source, model, resumed }) => ({ source, model, ...(resumed && resumedFields(resumed)) }),
  },
  SessionEnd: { subject: ({ reason }) => reason, fields: ({ reason }) => ({ reason }) },
  UserPromptSubmit: {
    fields: ({ typed, prompt }) => ({ prompt: typed, ...(typed !== prompt && { expanded_prompt: prompt }) }),
  },
  UserPromptExpansion: {
    subject: ({ name }) => name,
    fields: ({ name, args, scope, typed }) => ({
      expansion_type: "slash_command",
      command_name: name,
      command_args: args,
      command_source: `${scope}Settings`,
      prompt: typed,
    }),
  },
  Stop: { fields: stopFields },
  StopFailure: {
    subject: ({ error }) => error,
    fields: ({ error, details, text }) => ({ error, error_details: details, last_assistant_message: text }),
  },
  InstructionsLoaded: {
    subject: reasonOf,
    fields: (facts) => ({
      file_path: facts.path,
      memory_type: facts.kind,
      load_reason: reasonOf(facts),
      ...defined({ parent_file_path: facts.importedBy, trigger_file_path: facts.triggeredBy }),
    }),
  },
  SubagentStart: { subject: ({ agent }) => agent.type, fields: agentFields },
  SubagentStop: {
    subject: ({ agent }) => agent.type,
    fields: (facts) => ({ ...stopFields(facts), ...agentFields(facts) }),
  },
  WorktreeCreate: { fields: worktreeFields },
  WorktreeRemove: { fields: worktreeFields },
  TaskCreated: { fields: listedFields },
  TaskCompleted: { fields: listedFields },
  Elicitation: {
    subject: ({ server }) => server,
    fields: ({ server, request }) => ({
      mcp_server_name: server,
      ...defined({
        message: request["message"],
        mode: modeOf(request),
        url: request["url"],
        elicitation_id: request["elicitationId"],
        requested_schema: request["requestedSchema"],
      }),
    }),
  },
  ElicitationResult: {
    subject: ({ server }) => server,
    fields: ({ server, request, answer }) => ({
      mcp_server_name: server,
      ...defined({
        elicitation_id: request["elicitationId"],
        mode: modeOf(request),
        action: answer["action"],
        content: answer["content"],
      }),
    }),
  },
  PreCompact: {
    subject: ({ trigger }) => trigger,
    fields: ({ trigger, focus }) => ({ trigger, custom_instructions: focus ?? null }),
  },
  PostCompact: {
    subject: ({ trigger }) => trigger,
    fields: ({ trigger, summary }) => ({ trigger, compact_summary: summary }),
  },
  CwdChanged: { fields: ({ from, to }) => ({ old_cwd: from, new_cwd: to }) },
};

function reasonOf({ importedBy, nested, byPattern }: HookFacts["InstructionsLoaded"]): string {
  if (byPattern) return "path_glob_match";
  if (importedBy !== undefined) return "include";
  return nested ? "nested_traversal" : "session_start";
}

function resumedFields({ secondsSinceAnswer, contextTokens }: ResumedFacts): JsonObject {
  return {
    seconds_since_last_response: secondsSinceAnswer,
    context_tokens: contextTokens,
    prompt_cache_likely_expired: secondsSinceAnswer > promptCacheSeconds,
  };
}

/** How long providers keep the beginning of a request, where nothing else is asked of them. */
const promptCacheSeconds = 300;

/** The rule that would let it happen, as a permission update. */
function suggestionsOf(rule: string | undefined): JsonObject[] {
  if (rule === undefined) return [];
  const { tool, pattern } = parseRule(rule);
  const rules: JsonObject[] = [{ toolName: tool, ...defined({ ruleContent: pattern }) }];
  return [{ type: "addRules", rules, behavior: "allow", destination: "session" }];
}

export type HookedSession = {
  readonly sessionId: string;
  readonly transcript: string | undefined;
  readonly cwd: string;
  readonly mode: string;
  readonly answerable: boolean;
  readonly promptId: string | undefined;
  readonly effort: string;
};

/** Moments of a turn's work, where it counts how hard the model thinks. */
const atWork: ReadonlySet<HookEventName> = new Set<HookEventName>([
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "Stop",
  "StopFailure",
  "SubagentStop",
]);

/** The fields every hook gets. */
export function commonFields(event: HookEventName, session: HookedSession): JsonObject {
  const { sessionId, transcript, cwd, mode, answerable, promptId, effort } = session;
  return {
    session_id: sessionId,
    transcript_path: transcript ?? "",
    cwd,
    ...defined({ prompt_id: promptId }),
    permission_mode: mode,
    headless: !answerable,
    ...(atWork.has(event) && { effort: { level: effort } }),
  };
}

type Bound = {
  readonly begin: (promptId: string) => void;
  /** Where the conversation of a subagent is kept. */
  readonly transcriptOf: (agentId: string) => string;
  /** The session's tasks. */
  readonly tasks: () => readonly BackgroundTaskState[];
  readonly title: () => string | undefined;
};

/** Moments whose hooks may name the session: they hear what it is called. */
const named: ReadonlySet<HookEventName> = new Set<HookEventName>(["SessionStart", "UserPromptSubmit"]);
const stops: ReadonlySet<HookEventName> = new Set<HookEventName>(["Stop", "SubagentStop"]);

/** Those that have not ended. */
function taskFields(tasks: readonly BackgroundTaskState[]): JsonObject {
  const open = tasks.filter(({ completedAt }) => completedAt === undefined);
  return {
    background_tasks: open
      .filter(({ kind }) => kind !== "scheduled")
      .map(({ id, kind, status, label, agentType, commandPreview }) => ({
        ...{ id, type: kind === "agent" ? "subagent" : "shell", status, description: label },
        ...defined({ agent_type: agentType, command: commandPreview }),
      })),
    session_crons: open
      .filter(({ kind }) => kind === "scheduled")
      .map(({ id, status, label, nextFireAt }) => ({ id, status, description: label, ...defined({ next_fire_at: nextFireAt }) })),
  };
}

/** `more`: fields that come before those of the moment. */
export function toHooks(runner: HookRunner, bound: Bound, more: () => JsonObject = () => ({})): Hooks {
  const toRequest = <E extends keyof HookFacts>(
    event: E,
    facts: HookFacts[E],
  ): Pick<HookRequest, "event" | "subject" | "input"> => {
    const { subject, fields }: Moment<HookFacts[E]> = moments[event];
    const input = { ...more(), ...fields(facts) };
    const place = event === "SubagentStop" && { agent_transcript_path: bound.transcriptOf(String(input["agent_id"])) };
    const tasks = stops.has(event) && taskFields(bound.tasks());
    const title = named.has(event) && defined({ session_title: bound.title() });
    return { event, ...(subject && { subject: subject(facts) }), input: { ...input, ...place, ...tasks, ...title } };
  };
  return {
    ask: async (event, facts, place) =>
      runner.has(event) ? await runner.run({ ...toRequest(event, facts()), ...place }) : { context: [] },
    tell(event, facts, place) {
      if (runner.has(event)) runner.notify({ ...toRequest(event, facts()), ...place });
    },
    list: () => runner.list(),
    begin: bound.begin,
    add: (hooks) => runner.add(hooks),
    remove: (hooks) => runner.remove(hooks),
    ofAgent: (agent, mode) => toHooks(runner, bound, () => ({ ...more(), ...agentFields({ agent }), permission_mode: mode() })),
    close: (graceMs) => runner.close(graceMs),
  };
}
