import type { SessionStore } from "../../journal/store.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";

export type SessionReplayIssueCode =
  /** A turn counts more answers of the model than are on record. */
  | "PROVIDER_RESPONSE_RAW_MISSING"
  /** A part that only its provider understands has lost what it held: it cannot be sent back as it came. */
  | "PROVIDER_NATIVE_RAW_PAYLOAD_MISSING"
  /** An answer is on record without the message it was read as. */
  | "PROVIDER_RESPONSE_NORMALIZED_MISSING"
  /** A tool was started, and how it ended is not on record: after a crash its outcome is unknown. */
  | "TOOL_RESULT_MISSING"
  /** What stands for a long text does not say which one. */
  | "PAYLOAD_REFERENCE_INVALID"
  /** A long text is not where it should be, or not what it was. */
  | "UNRESOLVED_REPLAY_PAYLOAD";

export type SessionReplayIssue = {
  code: SessionReplayIssueCode;
  message: string;
  /** The event it was found at. */
  seq: number;
  turnId?: string;
  taskId?: string;
  callId?: string;
};

export type SessionReplayValidation = { ok: boolean; issues: SessionReplayIssue[] };

/** Pure: whether everything a replay needs is among these events of one session, in the order of their numbers. */
export function validateSessionReplayLogEntries(events: readonly AgentEvent[]): SessionReplayValidation {
  const issues: SessionReplayIssue[] = [];
  const answers = new AnswerCount(issues);
  const started = new Map<string, AgentEvent<"tool.started">>();
  for (const event of events) {
    checkTexts(event, issues);
    answers.apply(event);
    if (event.type === "message.ended" || event.type === "side-call.ended") checkMessage(event, issues);
    if (event.type === "tool.started") started.set(toolKey(event), event);
    if (event.type === "tool.ended") started.delete(toolKey(event));
  }
  for (const event of started.values()) {
    const message = `${event.name} was started, and its result is not on record`;
    issues.push({ code: "TOOL_RESULT_MISSING", message, ...placeOf(event), callId: event.callId });
  }
  issues.sort((one, other) => one.seq - other.seq);
  return { ok: issues.length === 0, issues };
}

/** A call id is the provider's word, and some count from nought in each conversation. */
function toolKey({ callId, taskId }: AgentEvent<"tool.started" | "tool.ended">): string {
  return JSON.stringify([taskId ?? null, callId]);
}

function placeOf({ seq, turnId, taskId }: AgentEvent): Pick<SessionReplayIssue, "seq" | "turnId" | "taskId"> {
  return { seq, ...defined({ turnId, taskId }) };
}

/** Compares the answers on record with what each turn, or subagent, says it was given. */
class AnswerCount {
  readonly #issues: SessionReplayIssue[];
  readonly #seen = new Map<string, number>();

  constructor(issues: SessionReplayIssue[]) {
    this.#issues = issues;
  }

  apply(event: AgentEvent): void {
    const key = event.taskId ?? event.turnId ?? ""; // a subagent may go on after the turn it was started in
    if (event.type === "message.ended") this.#seen.set(key, (this.#seen.get(key) ?? 0) + 1);
    if (event.type !== "turn.ended" && event.type !== "task.ended") return;
    const seen = this.#seen.get(key) ?? 0;
    this.#seen.delete(key);
    // A call that failed, or was cut off before it said anything, is counted and left no answer; a turn that completed has none of those.
    const expected = event.modelCalls - (event.outcome.type === "completed" ? 0 : 1);
    if (seen >= expected) return;
    const message = `The model was asked ${event.modelCalls} times, and ${seen} of its answers ${seen === 1 ? "is" : "are"} on record`;
    this.#issues.push({ code: "PROVIDER_RESPONSE_RAW_MISSING", message, ...placeOf(event) });
  }
}

function checkMessage(event: AgentEvent<"message.ended" | "side-call.ended">, issues: SessionReplayIssue[]): void {
  const message: unknown = event.message; // the log is older than this program, or was written to by another
  if (!isObject(message) || !Array.isArray(message["content"])) {
    const text = "An answer of the model is on record without what it said";
    issues.push({ code: "PROVIDER_RESPONSE_NORMALIZED_MISSING", message: text, ...placeOf(event) });
    return;
  }
  for (const part of message["content"] as unknown[]) {
    if (!isObject(part) || part["type"] !== "opaque") continue;
    if (typeof part["dialect"] === "string" && part["value"] !== undefined) continue;
    const text = "A part of an answer that only its provider understands has lost what it held";
    issues.push({ code: "PROVIDER_NATIVE_RAW_PAYLOAD_MISSING", message: text, ...placeOf(event) });
  }
}

/** How a store writes that a long text is elsewhere, and what it says instead when it is not there. */
const referenceKey = "$outrider.text";
const lostText = /^\[This text of \d+ bytes could not be put back: .*\]$/;

function checkTexts(event: AgentEvent, issues: SessionReplayIssue[]): void {
  const visit = (value: unknown): void => {
    if (typeof value === "string") {
      if (lostText.test(value))
        issues.push({ code: "UNRESOLVED_REPLAY_PAYLOAD", message: value.slice(1, -1), ...placeOf(event) });
    } else if (isObject(value)) {
      if (referenceKey in value) issues.push({ ...judgeReference(value[referenceKey]), ...placeOf(event) });
      else for (const item of Object.values(value)) visit(item);
    }
  };
  visit(event);
}

function judgeReference(reference: unknown): Pick<SessionReplayIssue, "code" | "message"> {
  const isWhole =
    isObject(reference) &&
    typeof reference["sha256"] === "string" &&
    /^[0-9a-f]{64}$/.test(reference["sha256"]) &&
    typeof reference["bytes"] === "number";
  if (!isWhole) return { code: "PAYLOAD_REFERENCE_INVALID", message: "What stands for a long text does not say which one" };
  return { code: "UNRESOLVED_REPLAY_PAYLOAD", message: `A text of ${reference["bytes"]} bytes was not put back` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

export type SessionReplayReport = { logFile?: string; entryCount: number; validation: SessionReplayValidation };

/** Reads a stored session and validates it; an unknown one has no entries. `logFile` is only handed on. */
export async function validateCommandSessionReplayLog(session: {
  readonly store: Pick<SessionStore, "read">;
  readonly sessionId: string;
  readonly logFile?: string;
}): Promise<SessionReplayReport> {
  const { store, sessionId, logFile } = session;
  const events = await store.read(sessionId);
  const validation = validateSessionReplayLogEntries(events);
  return { ...defined({ logFile }), entryCount: events.length, validation };
}

/** For a person: a headline, where and how much was looked at, and one line per issue. */
export function formatCommandSessionReplayValidationReport({ logFile, entryCount, validation }: SessionReplayReport): string {
  const { ok, issues } = validation;
  return [
    ok ? "The session can be replayed" : `The session cannot be replayed as it was: ${countOf(issues.length, "issue")}`,
    ...(logFile === undefined ? [] : [`Journal: ${logFile}`]),
    `Events: ${entryCount}`,
    ...issues.map(({ seq, code, message }) => `  event ${seq}: ${code}: ${message}`),
  ].join("\n");
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
