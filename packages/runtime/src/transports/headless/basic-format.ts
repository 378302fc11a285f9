import { type ErrorCode, toShownError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { toGroupEvent, toTaskEvent } from "../../session/tasks/task-event.ts";
import { reasonOf } from "./outcome-reason.ts";
import type { OutputFormat, OutputFormatName } from "./output-format.ts";
import { createSpill } from "./spill-folder.ts";
import { toWireLine } from "./wire-line.ts";

export type BasicFormatOptions = {
  readonly sessionId: string;
  readonly newId: () => string;
  /** Where values that are too long for a line are kept. */
  readonly spillFolder?: string | undefined;
};

/** The library's plain contract: the answer as text, as one JSON object, or as text deltas followed by that object. */
export function createBasicFormat(name: OutputFormatName, options: BasicFormatOptions): OutputFormat {
  const spill = options.spillFolder === undefined ? undefined : createSpill(options.spillFolder);
  const end = async (outcome: Outcome): Promise<string> => toWireLine(toResult(outcome, options.sessionId), spill);
  switch (name) {
    case "text":
      return { event: () => "", end: async (outcome) => toText(outcome) };
    case "json":
      return { event: () => "", end };
    case "stream-json":
      return {
        event: (event) => {
          const wrapped = toStreamEvent(event);
          return wrapped
            ? toWireLine({ type: "stream_event", event: wrapped, session_id: event.sessionId, uuid: options.newId() }, spill)
            : "";
        },
        end,
      };
  }
}

/** In this contract an interruption is a success with what had been said. */
export function isBasicSuccess(outcome: Outcome): boolean {
  return outcome.type === "completed" || outcome.type === "cancelled";
}

function toText(outcome: Outcome): string {
  return isBasicSuccess(outcome) && outcome.text ? `${outcome.text}\n` : "";
}

function toStreamEvent(event: AgentEvent): Record<string, unknown> | undefined {
  const told = event.type.startsWith("background.") ? toTaskEvent(event) : undefined;
  if (told) return { type: "background_task_event", background_task_event: told };
  const group = event.type.startsWith("group.") ? toGroupEvent(event) : undefined;
  if (group) return { type: "background_job_group_event", background_job_group_event: group };
  if (event.type !== "text.delta" || event.taskId !== undefined) return undefined;
  return { type: "content_block_delta", delta: { type: "text_delta", text: event.text } };
}

function toResult(outcome: Outcome, sessionId: string): Record<string, unknown> {
  const success = isBasicSuccess(outcome);
  return {
    type: "result",
    result: success ? outcome.text : "",
    session_id: sessionId,
    subtype: success ? "success" : "error",
    ...(outcome.masked && { warnings: outcome.masked }),
    ...errorFields(outcome),
  };
}

/** `error_code` is the contract's coarse word; `error` says the same in ours, and why. */
function errorFields(outcome: Outcome): Record<string, unknown> {
  if (outcome.type === "failed") return { error_code: toErrorCode(outcome.error.code), error: toShownError(outcome.error) };
  if (outcome.type !== "stopped") return {};
  return { error_code: "api_error", error: { code: "limit-reached", message: reasonOf(outcome), retryable: false } };
}

function toErrorCode(code: ErrorCode): string {
  if (configCodes.has(code)) return "config_error";
  return code === "storage-failed" || code === "internal" ? "tool_error" : "api_error";
}

const configCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "usage",
  "no-input",
  "config",
  "not-found",
  "provider-auth",
  "session-locked",
]);
