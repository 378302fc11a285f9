import type { Hook, HookAction } from "../../hooks/hook.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { HookEventName } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";

type Ground = {
  /** Where a hook comes from, in the SDK's words. */
  readonly sourceOf: (source: string) => string;
  readonly allDisabled: boolean;
};

/** The hooks of a session for a host that shows them. Nothing is editable: settings files are the user's. */
export function toHooksListing(hooks: readonly Hook[], { sourceOf, allDisabled }: Ground): JsonObject {
  const names = Object.keys(events) as HookEventName[]; // the record has all of them and no other
  const countOf = (name: string): number => hooks.filter(({ event }) => event === name).length;
  const rows = names.flatMap((name) => hooks.filter(({ event }) => event === name));
  return {
    events: names.flatMap((name) => (countOf(name) === 0 ? [] : [{ ...toEvent(name), hookCount: countOf(name) }])),
    hooks: rows.map((hook) => toRow(hook, sourceOf(hook.source))),
    eventCatalog: names.map(toEvent),
    policy: {
      ...{ disabledByPolicy: false, managedOnly: false, pluginOnly: false, allDisabled },
      policyHookCount: hooks.filter(({ source }) => sourceOf(source) === "policySettings").length,
    },
  };
}

function toRow({ event, matcher, action, source, condition, timeoutMs, once, background }: Hook, from: string): JsonObject {
  const { label, text } = contentOf(action);
  const shown = revealed(text);
  return {
    ...{ event, matcher: revealed(matcher), source: from, sourceLabel: source, type: action.type },
    ...{ displayText: shown, commandText: shown, contentLabel: label, timeout: timeoutMs / 1000 },
    ...defined({ condition: condition && revealed(condition.text) }),
    ...(once && { runsOnce: true }),
    ...(background && { runsInBackground: true }),
  };
}

function contentOf(action: HookAction): { readonly label: string; readonly text: string } {
  switch (action.type) {
    case "command":
      return { label: "Command", text: [action.command, ...(action.args ?? [])].join(" ") };
    case "http":
      return { label: "URL", text: action.url };
    case "mcp_tool":
      return { label: "Tool", text: `${action.server} ${action.tool}` };
    case "prompt":
    case "agent":
      return { label: "Prompt", text: action.prompt };
    case "callback":
      return { label: "Function", text: "a function of the host" };
  }
}

/** On one line, with control characters as escapes: nothing in it can hide a part of it. */
function revealed(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (char) =>
    JSON.stringify(char)
      .slice(1, -1)
      .replace(/^[^\\]$/u, escaped),
  );
}

function escaped(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

function toEvent(name: HookEventName): { name: string; summary: string; supportsMatcher: boolean } {
  const [summary, supportsMatcher] = events[name];
  return { name, summary, supportsMatcher };
}

/** What happens, and whether a matcher is compared with anything. */
const events: Readonly<Record<HookEventName, readonly [summary: string, supportsMatcher: boolean]>> = {
  Setup: ["A session with --init or --maintenance begins", true],
  SessionStart: ["A session begins", true],
  InstructionsLoaded: ["An instruction file was loaded", true],
  CwdChanged: ["A command has changed the working directory", false],
  UserPromptSubmit: ["A prompt is about to be accepted", false],
  UserPromptExpansion: ["A typed command is about to become a prompt", true],
  PreToolUse: ["A call is about to be judged", true],
  PermissionRequest: ["A call needs approval", true],
  Notification: ["A person should know of something", true],
  PostToolUse: ["A call has succeeded", true],
  PostToolUseFailure: ["A call has failed", true],
  PostToolBatch: ["All calls of one answer have results", false],
  Stop: ["The model is done", false],
  StopFailure: ["A turn has ended in an error", true],
  SubagentStart: ["A subagent begins", true],
  SubagentStop: ["A subagent is done", true],
  PreCompact: ["Older messages are about to be replaced by a summary", true],
  PostCompact: ["Older messages were replaced by a summary", true],
  WorktreeCreate: ["A subagent gets its own worktree", false],
  WorktreeRemove: ["An unused worktree was removed", false],
  TaskCreated: ["The model adds an entry to its task list", false],
  TaskCompleted: ["The model marks an entry of its task list as done", false],
  Elicitation: ["A server asks a person something", true],
  ElicitationResult: ["A server's question was answered", true],
  SessionEnd: ["A session ends", true],
};
