import {
  type AssistantMessage,
  type AssistantPart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ReasoningPart,
  type ToolResultPart,
  type UserMessage,
} from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { eventUuid, frameUuid } from "../headless/frame-uuid.ts";
import { defined } from "../../util/defined.ts";
import { toMediaBlock } from "../../protocol/media.ts";

/** A line of a session in the layout of Claude Code, and the file it belongs to: the session's own, or that of a subagent. */
export type SessionEntry = { readonly agentId: string | undefined; readonly uuid: string | undefined; readonly line: JsonObject };

export type EntryFacts = {
  readonly sessionId: string;
  readonly entrypoint: string;
  /** The branch that is checked out in a folder. */
  readonly gitBranch?: (cwd: string) => string | undefined;
};

/**
 * Events to the lines that Claude Code would have stored for them. Lines of one file form a chain by `parentUuid`, and are named like the
 * frames of the same messages, so that what a host saw on stdout can be found again on disk.
 */
export class SessionEntries {
  readonly #sessionId: string;
  readonly #entrypoint: string;
  /** The last line of each chain. */
  readonly #last = new Map<string | undefined, string>();
  /** The session's own lines, and the events they are of: a session may go back to one of them when it is opened. */
  #trail: { readonly seq: number; readonly uuid: string }[] | undefined = [];
  readonly #gitBranch: (cwd: string) => string | undefined;
  #cwd = "";
  #version = "";
  #branch: string | undefined;

  constructor({ sessionId, entrypoint, gitBranch }: EntryFacts) {
    this.#sessionId = sessionId;
    this.#entrypoint = entrypoint;
    this.#gitBranch = gitBranch ?? (() => undefined);
  }

  /** No more openings come: the session can go back no more. */
  forgetTrail(): void {
    this.#trail = undefined;
  }

  of(event: AgentEvent): SessionEntry[] {
    switch (event.type) {
      case "session.rewound":
        this.#goBack(event.to);
        return [];
      case "session.started":
        this.#cwd = event.cwd;
        this.#version = event.version;
        this.#branch = this.#gitBranch(event.cwd);
        return [];
      case "session.named": {
        const line = { type: "custom-title", customTitle: event.name, sessionId: this.#sessionId };
        return [{ agentId: undefined, uuid: undefined, line }];
      }
      case "turn.started":
        return [
          this.#user(event, event.importedAs?.[0] ?? event.turnId ?? this.#uuidOf(event), { content: toContent(event.input) }),
        ];
      case "input.added":
        return [
          this.#user(event, this.#uuidOf(event), {
            content: toContent(event.input),
            ...(event.origin !== "user" && { isMeta: true }),
          }),
        ];
      case "task.started":
        return [this.#user(event, this.#uuidOf(event), { content: event.prompt })];
      case "message.ended":
        return event.message.content.map((part, index) => this.#assistant(event, part, index));
      case "tool.ended":
        return [this.#user(event, this.#uuidOf(event), { content: [toToolResult(event.result)] })];
      default:
        return [];
    }
  }

  #user(event: AgentEvent, uuid: string, { content, isMeta }: { content: JsonValue; isMeta?: boolean }): SessionEntry {
    return this.#entry(event, uuid, { type: "user", ...(isMeta && { isMeta }), message: { role: "user", content } });
  }

  #assistant(event: AgentEvent<"message.ended">, part: AssistantPart, index: number): SessionEntry {
    const uuid = event.importedAs?.[index] ?? frameUuid(event.messageId, index);
    return this.#entry(event, uuid, { type: "assistant", message: toMessage(event.message, part, event.messageId) });
  }

  /** The next line follows the last one up to there, so that a reader of the chain passes over what was left behind. */
  #goBack(to: number): void {
    const uuid = this.#trail?.findLast(({ seq }) => seq <= to)?.uuid;
    if (uuid === undefined) this.#last.delete(undefined);
    else this.#last.set(undefined, uuid);
  }

  #entry(event: AgentEvent, uuid: string, fields: JsonObject): SessionEntry {
    const agentId = event.taskId;
    const line = {
      parentUuid: this.#last.get(agentId) ?? null,
      isSidechain: agentId !== undefined,
      ...defined({ agentId }),
      userType: "external",
      entrypoint: this.#entrypoint,
      cwd: this.#cwd,
      sessionId: this.#sessionId,
      version: this.#version,
      ...defined({ gitBranch: this.#branch }),
      ...fields,
      uuid,
      timestamp: event.at,
    };
    this.#last.set(agentId, uuid);
    if (agentId === undefined) this.#trail?.push({ seq: event.seq, uuid });
    return { agentId, uuid, line };
  }

  /** What was taken over from such a file keeps its name. */
  #uuidOf({ seq, importedAs }: AgentEvent): string {
    return importedAs?.[0] ?? eventUuid(this.#sessionId, seq);
  }
}

function toContent({ content }: UserMessage): JsonValue {
  const [only, ...more] = content;
  if (only?.type === "text" && more.length === 0) return only.text;
  return content.map(toBlock);
}

function toBlock(part: ToolResultPart["content"][number]): JsonValue {
  if (part.type === "text") return { type: "text", text: part.text };
  return toMediaBlock(part);
}

function toToolResult({ callId, content, isError }: ToolResultPart): JsonValue {
  const [only, ...more] = content;
  const text = only?.type === "text" && more.length === 0 ? only.text : undefined;
  return { type: "tool_result", tool_use_id: callId, content: text ?? content.map(toBlock), is_error: isError };
}

function toMessage(message: AssistantMessage, part: AssistantPart, messageId: string): JsonObject {
  const { usage } = message;
  return {
    id: messageId,
    type: "message",
    role: "assistant",
    model: message.model.id,
    content: [toAssistantBlock(part)],
    stop_reason: message.stopReason ?? null,
    stop_sequence: message.stopSequence ?? null,
    usage: {
      input_tokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      output_tokens: usage.outputTokens,
    },
  };
}

/** The seal a provider put under a thought: without it the thought cannot be sent back. */
function signatureOf({ providerMetadata = {} }: ReasoningPart): string {
  const seals = Object.values(providerMetadata).map((value) => (isJsonObject(value) ? value["signature"] : undefined));
  return seals.find((seal) => typeof seal === "string") ?? "";
}

function toAssistantBlock(part: AssistantPart): JsonValue {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning":
      return { type: "thinking", thinking: part.text, signature: signatureOf(part) };
    case "tool-call":
      return { type: "tool_use", id: part.callId, name: part.name, input: part.input as JsonValue }; // JSON from the model
    case "opaque":
      return part.value;
  }
}
