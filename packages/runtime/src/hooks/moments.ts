import { parseRule } from "../permissions/rules.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { HookFacts, HookRequest, HookRunner, Hooks } from "./hook.ts";
import { defined } from "../util/defined.ts";

type Moment<Facts> = {
  /** What matchers look at. */
  readonly subject?: (facts: Facts) => string;
  readonly fields: (facts: Facts) => JsonObject;
};

const toolOf = ({ tool }: HookFacts["PreToolUse"]): string => tool;
const toolFields = ({ tool, input, callId }: HookFacts["PreToolUse"]): JsonObject => ({
  tool_name: tool,
  tool_input: input,
  tool_use_id: callId,
});
const stopFields = ({ text, isAgain }: HookFacts["Stop"]): JsonObject => ({
  stop_hook_active: isAgain,
  last_assistant_message: text,
});
const agentFields = ({ agent }: HookFacts["SubagentStart"]): JsonObject => ({ agent_id: agent.id, agent_type: agent.type });

/** In the words of Claude Code's hooks. Outside this folder only transports that speak them know them. */
const moments: { readonly [E in keyof HookFacts]: Moment<HookFacts[E]> } = {
  PreToolUse: { subject: toolOf, fields: toolFields },
  PermissionRequest: {
    subject: toolOf,
    fields: (facts) => ({ ...toolFields(facts), reason: facts.reason, permission_suggestions: suggestionsOf(facts.rule) }),
  },
  Notification: {
    subject: () => "permission_prompt",
    fields: ({ tool, reason }) => ({
      notification_type: "permission_prompt",
      message: `${tool} waits for permission: ${reason}`,
    }),
  },
  PostToolUse: {
    subject: toolOf,
    fields: (facts) => ({
      ...toolFields(facts),
      tool_response: { content: facts.text, is_error: facts.isFailure, ...facts.details },
    }),
  },
  PostToolUseFailure: {
    subject: toolOf,
    fields: (facts) => ({ ...toolFields(facts), error: facts.text, is_interrupt: false }),
  },
  SessionStart: { subject: ({ source }) => source, fields: ({ source, model }) => ({ source, model }) },
  SessionEnd: { subject: ({ reason }) => reason, fields: ({ reason }) => ({ reason }) },
  UserPromptSubmit: {
    fields: ({ typed, prompt }) => ({ prompt: typed, ...(typed !== prompt && { expanded_prompt: prompt }) }),
  },
  Stop: { fields: stopFields },
  SubagentStart: { subject: ({ agent }) => agent.type, fields: agentFields },
  SubagentStop: {
    subject: ({ agent }) => agent.type,
    fields: (facts) => ({ ...stopFields(facts), ...agentFields(facts) }),
  },
  PreCompact: {
    subject: ({ trigger }) => trigger,
    fields: ({ trigger, focus }) => ({ trigger, custom_instructions: focus ?? "" }),
  },
  PostCompact: {
    subject: ({ trigger }) => trigger,
    fields: ({ trigger, summary }) => ({ trigger, compact_summary: summary }),
  },
};

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
};

/** The fields every hook gets. */
export function commonFields({ sessionId, transcript, cwd, mode, answerable }: HookedSession): JsonObject {
  return { session_id: sessionId, transcript_path: transcript ?? "", cwd, permission_mode: mode, headless: !answerable };
}

/** `more`: fields that come before those of the moment. */
export function toHooks(runner: HookRunner, more: () => JsonObject = () => ({})): Hooks {
  const toRequest = <E extends keyof HookFacts>(
    event: E,
    facts: HookFacts[E],
  ): Pick<HookRequest, "event" | "subject" | "input"> => {
    const { subject, fields }: Moment<HookFacts[E]> = moments[event];
    return { event, ...(subject && { subject: subject(facts) }), input: { ...more(), ...fields(facts) } };
  };
  return {
    ask: async (event, facts, place) =>
      runner.has(event) ? await runner.run({ ...toRequest(event, facts()), ...place }) : { context: [] },
    tell(event, facts, place) {
      if (runner.has(event)) runner.notify({ ...toRequest(event, facts()), ...place });
    },
    ofAgent: (agent, mode) => toHooks(runner, () => ({ ...more(), ...agentFields({ agent }), permission_mode: mode() })),
    close: (graceMs) => runner.close(graceMs),
  };
}
