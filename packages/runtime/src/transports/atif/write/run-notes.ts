import type { AgentEvent } from "../../../protocol/events.ts";
import type { Extra } from "../atif.ts";
import { toErrorExtra } from "./answer-step.ts";

/** What happened beside the conversation, for the document's own `extra.events`; undefined for everything else. */
export function toRunNote(event: AgentEvent): Extra | undefined {
  const note = noteOf(event);
  return note && { timestamp: event.at, type: event.type, ...note };
}

function noteOf(event: AgentEvent): Extra | undefined {
  switch (event.type) {
    case "warning.raised":
      return { message: event.message };
    case "worktree.inspected":
      return { path: event.path, branch: event.branch, status: event.status, message: event.summary };
    case "settings.ignored":
      return { items: event.items, message: event.hint };
    case "hook.ended":
      if (event.status === "ok") return undefined;
      return { hook: event.name, event: event.event, status: event.status, ...callField(event.callId) };
    case "compaction.ended": {
      const { result } = event;
      if (result.type === "compacted") return undefined;
      return {
        status: result.type,
        trigger: event.trigger,
        ...(result.type === "refused" && { reason: result.reason }),
        ...(result.type === "failed" && { error: toErrorExtra(result.error) }),
      };
    }
    case "checkpoint.skipped":
      return { path: event.path, reason: event.reason };
    case "checkpoint.restored":
      return { kind: event.kind, target: event.target, files: event.files };
    default:
      return undefined;
  }
}

function callField(callId: string | undefined): Extra {
  return callId === undefined ? {} : { tool_call_id: callId };
}
