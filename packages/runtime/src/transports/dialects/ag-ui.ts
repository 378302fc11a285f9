import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import type { Interrupt } from "./ag-ui-interrupts.ts";
import { toPrompt } from "./openai-conversation.ts";
import type { Piece } from "./turn-pieces.ts";

export type AgUiRequest = {
  readonly threadId: string;
  readonly runId: string;
  /** Answers to the interrupts of the run before; absent where a new one begins. */
  readonly resume?: readonly unknown[];
  toMessage(hasPast: boolean): UserMessage;
};

export function decodeAgUiRequest(body: unknown): AgUiRequest {
  const { threadId, runId, messages, resume, context } = isRecord(body) ? body : {};
  if (typeof threadId !== "string" || typeof runId !== "string")
    throw new RuntimeError("usage", "threadId and runId are required");
  if (!Array.isArray(messages)) throw new RuntimeError("usage", "messages is required");
  return {
    ...{ threadId, runId },
    ...(Array.isArray(resume) && resume.length > 0 && { resume }),
    toMessage: (hasPast) => withContext(toPrompt(messages, hasPast), context),
  };
}

/** What the application wants the model to know for this run. */
function withContext(message: UserMessage, context: unknown): UserMessage {
  const entries = (Array.isArray(context) ? context : []).filter(isRecord);
  if (entries.length === 0) return message;
  const lines = entries.map(
    ({ description, value }) => `${String(description)}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return { ...message, content: [{ type: "text", text: `<context>\n${lines.join("\n")}\n</context>` }, ...message.content] };
}

export type AgUiEvent = { readonly type: string; readonly [field: string]: unknown };

/** The events of one run. Tools are the agent's own: their results follow their calls. */
export class AgUiEvents {
  readonly #run: { readonly threadId: string; readonly runId: string };

  constructor({ threadId, runId }: Pick<AgUiRequest, "threadId" | "runId">) {
    this.#run = { threadId, runId };
  }

  get threadId(): string {
    return this.#run.threadId;
  }

  start(): AgUiEvent {
    return { type: "RUN_STARTED", ...this.#run, protocolVersion: "1.0" };
  }

  /** The run has ended, and the turn waits to be told. */
  interrupted(interrupts: readonly Interrupt[]): AgUiEvent {
    return { type: "RUN_FINISHED", ...this.#run, outcome: { type: "interrupt", interrupts } };
  }

  failed({ message, code }: { readonly message: string; readonly code: string }): AgUiEvent {
    return { type: "RUN_ERROR", message, code };
  }

  of(piece: Piece): AgUiEvent[] {
    switch (piece.type) {
      case "turn-start":
      case "asked":
      case "answer-end":
        return [];
      case "block-start":
        return blockStart(piece);
      case "block-delta":
        return [
          {
            type: piece.kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT",
            messageId: piece.id,
            delta: piece.text,
          },
        ];
      case "block-end":
        return blockEnd(piece);
      case "call": {
        const { callId: toolCallId, name: toolCallName, input } = piece;
        return [
          { type: "TOOL_CALL_START", toolCallId, toolCallName },
          { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input) ?? "{}" },
          { type: "TOOL_CALL_END", toolCallId },
        ];
      }
      case "call-end": {
        const { callId: toolCallId, text: content } = piece;
        return [{ type: "TOOL_CALL_RESULT", messageId: `result-${toolCallId}`, toolCallId, content, role: "tool" }];
      }
      case "turn-end": {
        const { outcome } = piece;
        if (outcome.type === "failed") return [this.failed(outcome.error)];
        // What was stopped, also by a limit, must not look like what is done.
        return [
          { type: "RUN_FINISHED", ...this.#run, outcome: { type: outcome.type === "completed" ? "success" : "cancelled" } },
        ];
      }
    }
  }
}

function blockStart({ kind, id: messageId }: { readonly kind: string; readonly id: string }): AgUiEvent[] {
  if (kind === "text") return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
  return [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
  ];
}

function blockEnd({ kind, id: messageId }: { readonly kind: string; readonly id: string }): AgUiEvent[] {
  if (kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId }];
  return [
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}
