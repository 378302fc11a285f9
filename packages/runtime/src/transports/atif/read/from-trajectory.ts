import { toMessages } from "../../../journal/transcript.ts";
import {
  type AssistantPart,
  type FinishReason,
  type ImagePart,
  type Message,
  noUsage,
  type TextPart,
} from "../../../protocol/content.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import type { AgentEvent, EventBody, ToolStatus } from "../../../protocol/events.ts";
import { toArguments } from "../write/answer-step.ts";
import { toCompacted } from "./compacted-context.ts";
import { type ToldPictures, toToldStep } from "./told-step.ts";
import type { JsonRecord } from "../check/field-checks.ts";
import { isRecord } from "../../../util/is-record.ts";
import { canonicalType, imageTypes } from "../media-files.ts";
import { validateTrajectory } from "../check/validate.ts";
import { defined } from "../../../util/defined.ts";

export type ImportOptions = {
  readonly sessionId: string;
  /** Milliseconds since 1970, for steps that do not say when they were. */
  readonly now?: () => number;
  /** Base64 of a picture that the document names by this path; undefined when it cannot be had. */
  readonly loadImage?: (path: string) => string | undefined;
};

export type ImportedTrajectory = {
  /** The journal of a session that has come as far as the trajectory. */
  readonly events: AgentEvent[];
  /** What a model would be sent of it. */
  readonly messages: Message[];
  /** The system prompt that was in force; the new session has its own. */
  readonly systemPrompt?: string;
  /** What of the document is not in the events, in a sentence each. */
  readonly warnings: string[];
};

/**
 * A trajectory, by any writer, as the history of a new session. It costs that session nothing: tokens and prices stay behind.
 * Throws `config` with the path of what is wrong when it is no trajectory.
 */
export function fromTrajectory(value: unknown, options: ImportOptions): ImportedTrajectory {
  const { problems } = validateTrajectory(value, { mode: "harbor", version: "1.8" });
  const [first] = problems;
  if (first || !isRecord(value)) {
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    throw new RuntimeError("config", `This is no ATIF trajectory: ${first?.path}: ${first?.message}${more}`, {
      hint: "outrider trajectory validate FILE lists everything that is wrong",
    });
  }
  const reader = new TrajectoryReader(value, options);
  for (const step of recordsIn(value["steps"])) reader.read(step);
  return reader.finish();
}

class TrajectoryReader {
  readonly #options: ImportOptions;
  readonly #document: JsonRecord;
  readonly #events: AgentEvent[] = [];
  readonly #warnings = new Set<string>();
  readonly #ids = new Set<string>();
  /** By the ids of the document, which may use one for several calls: the latest counts. */
  readonly #latestIds = new Map<string, string>();
  readonly #pictures: ToldPictures = { load: (source) => this.#loadPicture(source), nameOnly };
  #at: string;
  #turn = 0;
  #isOpen = false;
  #said = "";
  #system: string | undefined;

  constructor(document: JsonRecord, options: ImportOptions) {
    this.#options = options;
    this.#document = document;
    this.#at = new Date((options.now ?? Date.now)()).toISOString();
    if (recordsIn(document["subagent_trajectories"]).length > 0)
      this.#warnings.add("Subagents' own trajectories are left out; what they answered is kept");
    const next = document["continued_trajectory_ref"];
    if (typeof next === "string") this.#warnings.add(`The trajectory goes on in ${next}, which is left out`);
  }

  read(step: JsonRecord): void {
    const { timestamp } = step;
    if (typeof timestamp === "string" && !Number.isNaN(Date.parse(timestamp))) this.#at = new Date(timestamp).toISOString();
    const isFirst = this.#events.length === 0;
    this.#emit({ type: "step.imported", step: toToldStep(step, this.#pictures) });
    if (step["source"] === "user") return this.#readPrompt(step);
    if (step["source"] === "agent") return this.#readAnswer(step);
    this.#readSystem(step, isFirst);
  }

  finish(): ImportedTrajectory {
    this.#endTurn();
    return {
      events: this.#events,
      messages: toMessages(this.#events),
      ...defined({ systemPrompt: this.#system }),
      warnings: [...this.#warnings],
    };
  }

  #readPrompt(step: JsonRecord): void {
    this.#endTurn();
    this.#turn++;
    this.#isOpen = true;
    const shown = fieldOf(step["extra"], "display_input");
    const content = this.#toParts(step["message"]);
    this.#emit({
      type: "turn.started",
      input: { role: "user", content },
      ...(typeof shown === "string" && { displayInput: shown }),
    });
  }

  #readAnswer(step: JsonRecord): void {
    if (!this.#isOpen && this.#turn === 0) this.#startWithoutPrompt();
    const calls = recordsIn(step["tool_calls"]).map((call) => ({
      from: String(call["tool_call_id"]),
      callId: this.#toCallId(call),
      call,
    }));
    const content: AssistantPart[] = [];
    if (typeof step["reasoning_content"] === "string" && step["reasoning_content"] !== "")
      content.push({ type: "reasoning", text: step["reasoning_content"] });
    const words = this.#toParts(step["message"])
      .map((part) => (part.type === "text" ? part.text : `[image ${part.mediaType}]`))
      .join("");
    if (words !== "") content.push({ type: "text", text: words });
    for (const { callId, call } of calls)
      content.push({ type: "tool-call", callId, name: toToolName(call["function_name"]), input: toArguments(call["arguments"]) });
    this.#emitAnswer(step, content);
    if (words !== "") this.#said = words;
    this.#readResults(step, calls);
  }

  #emitAnswer(step: JsonRecord, content: AssistantPart[]): void {
    const hasCalls = content.some((part) => part.type === "tool-call");
    const provider = fieldOf(step["extra"], "provider");
    const id = [step["model_name"], fieldOf(this.#document["agent"], "model_name")].find((name) => typeof name === "string");
    const model = { provider: typeof provider === "string" ? provider : "imported", id: typeof id === "string" ? id : "unknown" };
    const finish =
      finishReasons.find((reason) => reason === fieldOf(step["extra"], "finish")) ?? (hasCalls ? "tool-calls" : "stop");
    this.#emit({
      type: "message.ended",
      messageId: `imported-${this.#events.length + 1}`,
      message: { role: "assistant", content, model, finish, usage: { ...noUsage } },
      durationMs: 0,
      requestedModel: model.id,
    });
  }

  /** A result that belongs to no call is what the agent saw next. */
  #readResults(step: JsonRecord, calls: readonly { from: string; callId: string; call: JsonRecord }[]): void {
    for (const result of recordsIn(fieldOf(step["observation"], "results"))) {
      const call = calls.find(({ from }) => from === result["source_call_id"]);
      const content = this.#toParts(result["content"] ?? "");
      if (!call) {
        if (content.length > 0) this.#emit({ type: "input.added", input: { role: "user", content }, origin: "hook" });
        continue;
      }
      const name = toToolName(call.call["function_name"]);
      const status = toolStatuses.find((known) => known === fieldOf(result["extra"], "status")) ?? "ok";
      const isError = fieldOf(result["extra"], "is_error") === true || status !== "ok";
      this.#emit({ type: "tool.started", callId: call.callId, name, input: toArguments(call.call["arguments"]) });
      this.#emit({
        type: "tool.ended",
        callId: call.callId,
        name,
        status: isError && status === "ok" ? "error" : status,
        result: { type: "tool-result", callId: call.callId, name, content, isError },
        durationMs: 0,
      });
    }
  }

  #readSystem(step: JsonRecord, isFirst: boolean): void {
    const { extra } = step;
    const management = fieldOf(extra, "context_management");
    const seen = recordsIn(fieldOf(step["observation"], "results")).flatMap((result) => this.#toParts(result["content"] ?? ""));
    if (fieldOf(management, "boundary") === "replace") {
      const text = seen.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
      const size = toMessages(this.#events).length;
      return this.#emit(toCompacted(management, { text: text || String(step["message"]), size }));
    }
    if (fieldOf(management, "type") === "pruning" && this.#readPruning(extra)) return;
    const isPrompt = fieldOf(extra, "system_prompt") === true || (isFirst && !isRecord(management));
    const content = [...this.#toParts(step["message"]), ...seen];
    if (isPrompt) this.#system = content.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
    else if (content.length > 0) this.#emit({ type: "input.added", input: { role: "user", content }, origin: originOf(extra) });
  }

  #readPruning(extra: unknown): boolean {
    const pruned = fieldOf(extra, "pruned");
    const through = fieldOf(pruned, "through_message");
    if (typeof through !== "number") return false;
    const results = recordsIn(fieldOf(pruned, "results")).map(({ tool_call_id: callId, note }) => ({
      callId: this.#latestIds.get(String(callId)) ?? String(callId),
      note: String(note),
    }));
    this.#emit({ type: "context.cleared", through, results, preTokens: 0, postTokens: 0 });
    return true;
  }

  #startWithoutPrompt(): void {
    this.#readPrompt({ message: "(The trajectory begins without a prompt.)" });
    this.#warnings.add("The trajectory begins without a prompt, so that one was put before it");
  }

  #toParts(content: unknown): (TextPart | ImagePart)[] {
    if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
    return recordsIn(content).map((part) => {
      if (typeof part["text"] === "string") return { type: "text", text: part["text"] };
      const picture = this.#loadPicture(part["source"]);
      if (picture) return { type: "image", ...picture };
      this.#warnings.add(`${fieldOf(part["source"], "path")} could not be read and is named only`);
      return { type: "text", text: nameOnly(part) };
    });
  }

  #loadPicture(source: unknown): { mediaType: string; data: string } | undefined {
    const path = fieldOf(source, "path");
    const mediaType = canonicalType(String(fieldOf(source, "media_type")));
    const data = imageTypes.has(mediaType) && typeof path === "string" ? this.#options.loadImage?.(path) : undefined;
    return data === undefined ? undefined : { mediaType, data };
  }

  /** Providers want ids of letters and digits, and each one once in a conversation. */
  #toCallId(call: JsonRecord): string {
    const plain = String(call["tool_call_id"]).replace(/[^A-Za-z0-9_-]/g, "_") || "call";
    let id = plain;
    for (let times = 2; this.#ids.has(id); times++) id = `${plain}-${times}`;
    this.#ids.add(id);
    this.#latestIds.set(String(call["tool_call_id"]), id);
    return id;
  }

  #endTurn(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const outcome = { type: "completed", text: this.#said } as const;
    this.#emit({ type: "turn.ended", outcome, usage: { ...noUsage }, modelCalls: 0, durationMs: 0, modelDurationMs: 0 });
    this.#said = "";
  }

  #emit(body: EventBody): void {
    const envelope = {
      seq: this.#events.length + 1,
      at: this.#at,
      sessionId: this.#options.sessionId,
      turnId: `imported-${this.#turn}`,
    };
    this.#events.push(Object.assign(envelope, body) as AgentEvent); // an envelope and a body of one type make that type's event
  }
}

const finishReasons: readonly FinishReason[] = [
  "stop",
  "stop-sequence",
  "length",
  "tool-calls",
  "paused",
  "refusal",
  "content-filter",
  "context-overflow",
  "interrupted",
  "other",
];
const toolStatuses: readonly ToolStatus[] = ["ok", "error", "denied", "interrupted"];
const origins: readonly EventBody<"input.added">["origin"][] = [
  "continuation",
  "empty-answer",
  "output-schema",
  "hook",
  "user",
  "skill",
  "task",
  "file",
];

function originOf(extra: unknown): EventBody<"input.added">["origin"] {
  return origins.find((origin) => origin === fieldOf(extra, "origin")) ?? "hook";
}

function nameOnly(part: JsonRecord): string {
  return `[${part["type"]}: ${fieldOf(part["source"], "path")}]`;
}

function toToolName(name: unknown): string {
  return (
    String(name)
      .replace(/[^A-Za-z0-9_-]/g, "_")
      .slice(0, 64) || "tool"
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function recordsIn(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
