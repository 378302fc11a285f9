import type { AgentEvent, HookEventName } from "../../protocol/events.ts";
import type { ClaudeLines, Frame } from "./claude-frame.ts";
import type { InitFacts } from "./claude-init.ts";
import { defined } from "../../util/defined.ts";

/** Hooks of the start are always shown, others only on request. */
export function showsHook(
  { event }: { event: HookEventName },
  options: { readonly includeHookEvents?: boolean | undefined },
): boolean {
  return event === "SessionStart" || event === "Setup" || (options.includeHookEvents ?? false);
}

export function hookStartedLine(event: AgentEvent<"hook.started">, lines: ClaudeLines): string {
  return lines.system("hook_started", hookFields(event));
}

export function hookEndedLine(event: AgentEvent<"hook.ended">, lines: ClaudeLines): string {
  const { stdout, stderr, exitCode, status } = event;
  return lines.system("hook_response", {
    ...hookFields(event),
    output: stdout + stderr,
    stdout,
    stderr,
    ...defined({ exit_code: exitCode ?? (status === "timeout" ? 1 : undefined) }), // Claude Code's for what it has ended
    outcome: status === "blocked" && exitCode === 0 ? "success" : hookOutcomes[status], // the command itself went well
  });
}

export function compactionLines(event: AgentEvent<"compaction.ended">, lines: ClaudeLines): string {
  const { trigger, preTokens, durationMs, result } = event;
  const error = result.type === "failed" ? result.error.message : result.type === "refused" ? result.reason : result.type;
  const status = lines.system("status", {
    status: null,
    compact_result: result.type === "compacted" ? "success" : "failed",
    ...(result.type !== "compacted" && { compact_error: error }),
  });
  if (result.type !== "compacted") return status;
  const compact_metadata = {
    trigger: trigger === "manual" ? "manual" : "auto",
    pre_tokens: preTokens,
    post_tokens: result.postTokens,
    duration_ms: durationMs,
  };
  return status + lines.system("compact_boundary", { compact_metadata });
}

/** There is more to type than the last init said. */
export function commandsLine({ listCommands }: Pick<InitFacts, "listCommands">, lines: ClaudeLines): string {
  const commands = listCommands?.().map(({ name, description, argumentHint = "" }) => ({ name, description, argumentHint }));
  return commands ? lines.system("commands_changed", { commands }) : "";
}

function hookFields({ hookId, name, event }: { hookId: string; name: string; event: HookEventName }): Frame {
  return { hook_id: hookId, hook_name: name, hook_event: event };
}

const hookOutcomes = { ok: "success", blocked: "error", failed: "error", timeout: "cancelled", cancelled: "cancelled" } as const;

/** A hook did not let the prompt in: nothing of it is kept, and nobody was asked. */
export function blockedPromptLine(reason: string, lines: ClaudeLines): string {
  return lines.system("informational", {
    content: `UserPromptSubmit operation blocked by hook:\n${reason}`,
    level: "warning",
    prevent_continuation: true,
    prompt_submit_outcome: { kind: "blocked_by_hook", prompt_kept: false, reason },
  });
}
