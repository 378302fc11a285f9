import { type AssistantMessage, type AssistantPart, noUsage } from "../../protocol/content.ts";
import type { ErrorData } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { apiErrorWord } from "../../protocol/api-error-word.ts";
import type { ClaudeLines, Frame } from "./claude-frame.ts";
import { toClaudeUsage } from "./claude-usage.ts";
import { frameUuid } from "./frame-uuid.ts";
import type { StreamedBlock } from "./partial-messages.ts";
import { defined } from "../../util/defined.ts";
import { toServerToolBlock } from "./server-tool-block.ts";

/** `run`: what was typed; of a command in a file that did what it should, Claude Code does not say it. */
type LocalAnswer = {
  readonly at: string;
  readonly run: { command: string; args: string } | undefined;
  readonly failed?: boolean;
};

/**
 * One frame per block. Where deltas are shown a block's frame comes as soon as the block is whole; the rest of the message follows
 * with its end. Frames of an attempt that was given up are named by the frame that takes their place.
 */
export class AssistantFrames {
  readonly #lines: ClaudeLines;
  readonly #firstMarks: () => Frame;
  #early: Early[] = [];
  #void: string[] = [];

  /** `firstMarks` go on the next frame of the conversation; they are asked for each time, and mostly empty. */
  constructor(lines: ClaudeLines, firstMarks: () => Frame = () => ({})) {
    this.#lines = lines;
    this.#firstMarks = firstMarks;
  }

  /** A block that is whole while its message still runs: what the message will have cost is not known yet. */
  early({ messageId, index, part, at }: StreamedBlock, { model }: { model: string }): string {
    if (index !== this.#early.length) return ""; // one before it has to wait, and the order is kept
    const uuid = frameUuid(messageId, index);
    this.#early.push({ uuid, part });
    const message: AssistantMessage = {
      role: "assistant",
      content: [part],
      model: { provider: "", id: model },
      finish: "other",
      usage: noUsage,
    };
    return this.#frame(message, { messageId, part, uuid, at, marks: { parent_tool_use_id: null } });
  }

  /** The attempt has failed, and what it said is void. */
  giveUp(): void {
    this.#void.push(...this.#early.map(({ uuid }) => uuid));
    this.#early = [];
  }

  whole({ messageId, message, at, taskId }: AgentEvent<"message.ended">, marks: Frame): string {
    const early = taskId === undefined ? this.#early : [];
    if (taskId === undefined) this.#early = [];
    if (message.finish === "interrupted" && early.length > 0) return this.#restOf(message, { messageId, early, at, marks });
    const shown = (part: AssistantPart, index: number): boolean => early[index] !== undefined && isSame(early[index].part, part);
    const wrong = early.filter(({ part }, index) => !isSame(part, message.content[index])).map(({ uuid }) => uuid);
    this.#void.push(...wrong);
    return message.content
      .map((part, index) =>
        shown(part, index) ? "" : this.#frame(message, { messageId, part, uuid: frameUuid(messageId, index), at, marks }),
      )
      .join("");
  }

  /** A provider that failed, told the way Claude Code does: as something the assistant says, marked as an error. */
  apiError(error: ErrorData, at: string): string {
    const word = apiErrorWord(error);
    if (word === undefined) return "";
    const message = this.#synthetic(`API Error: ${error.message}`, at);
    return this.#lines.line("assistant", {
      message: { ...message, stop_reason: "stop_sequence", stop_sequence: "" },
      parent_tool_use_id: null,
      timestamp: at,
      error: word,
      is_api_error_message: true,
      api_error_status: error.httpStatus ?? null,
      ...defined({ api_error_type: error.errorType, request_id: error.requestId }),
      ...this.#firstMarks(),
    });
  }

  /** What a command says, or why it failed: no model was asked. */
  local(text: string, { at, run, failed }: LocalAnswer): string {
    const stream = failed ? "stderr" : "stdout";
    return this.#lines.line("assistant", {
      message: this.#synthetic(text, at),
      parent_tool_use_id: null,
      local_command_source: `<local-command-${stream}>${text}</local-command-${stream}>`,
      timestamp: at,
      ...(run && { local_command_run: run }),
      ...(failed && { local_command_outcome: { kind: "failed" } }),
      ...this.#firstMarks(),
    });
  }

  #synthetic(text: string, at: string): Frame {
    return {
      id: frameUuid(`${this.#lines.sessionId} ${at}`, 0),
      type: "message",
      role: "assistant",
      model: "<synthetic>",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: unasked,
      ...{ container: null, context_management: null, diagnostics: null, stop_details: null },
    };
  }

  /** What was said when the message was cut off, less what has been shown of it. */
  #restOf(message: AssistantMessage, { early, ...place }: Omit<Place, "part" | "uuid"> & { early: readonly Early[] }): string {
    const seen = early.flatMap(({ part }) => (part.type === "text" ? [part.text] : [])).join("");
    const said = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const text = said.startsWith(seen) ? said.slice(seen.length) : said;
    if (text === "") return "";
    return this.#frame(message, { ...place, part: { type: "text", text }, uuid: frameUuid(place.messageId, early.length) });
  }

  #frame(message: AssistantMessage, { messageId, part, uuid, at, marks }: Place): string {
    const supersedes = this.#void;
    this.#void = [];
    return this.#lines.line("assistant", {
      uuid,
      message: toMessage(message, part, messageId),
      ...marks,
      timestamp: at,
      ...(message.finish === "interrupted" && { aborted: true }),
      ...defined({ response_id: message.responseId, request_id: message.requestId }),
      ...(marks["parent_tool_use_id"] === null && this.#firstMarks()),
      ...(supersedes.length > 0 && { supersedes }),
    });
  }
}

/** The usage of a message that no model has written, with all its fields. */
const unasked: Frame = {
  ...toClaudeUsage(noUsage),
  server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
  ...{
    output_tokens_details: null,
    service_tier: null,
    inference_geo: null,
    iterations: null,
    speed: null,
    fallback_credit: null,
  },
};

type Early = { readonly uuid: string; readonly part: AssistantPart };
type Place = { messageId: string; part: AssistantPart; uuid: string; at: string; marks: Frame };

/** `id` is our own: it is known from the first delta on, and the same in every frame of the message. */
function toMessage(message: AssistantMessage, part: AssistantPart, messageId: string): Frame {
  return {
    id: messageId,
    type: "message",
    role: "assistant",
    model: message.model.id,
    content: [toBlock(part)],
    stop_reason: null,
    stop_sequence: message.stopSequence ?? null,
    usage: toClaudeUsage(message.usage),
    context_management: null,
  };
}

function toBlock(part: AssistantPart): unknown {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      return { type: "thinking", thinking: part.text, signature: signatureOf(part) ?? "" };
    case "tool-call":
      return { type: "tool_use", id: part.callId, name: part.name, input: part.input };
    case "opaque":
      return toServerToolBlock(part);
  }
}

function signatureOf({ providerMetadata }: AssistantPart & { type: "reasoning" }): unknown {
  const own = providerMetadata?.["anthropic-messages"];
  return typeof own === "object" && own !== null && "signature" in own ? own["signature"] : undefined;
}

function isSame(a: AssistantPart, b: AssistantPart | undefined): boolean {
  return b !== undefined && JSON.stringify(toBlock(a)) === JSON.stringify(toBlock(b));
}
