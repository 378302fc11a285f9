import {
  type AssistantPart,
  type ImagePart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  noUsage,
  type TextPart,
  textOf,
} from "../../protocol/content.ts";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import { blocksOf, type StoredAnswer, type StoredConversation, type StoredInput, type StoredLine } from "./conversation.ts";
import { defined } from "../../util/defined.ts";
import { pdfType } from "../../protocol/media.ts";

export type ImportPlace = {
  readonly sessionId: string;
  /** The number of the last event there is. */
  readonly after: number;
  /** For lines that do not say when they were written. */
  readonly now: string;
};

/** A stored conversation as events of a journal, each under the names of its lines. It costs nothing: it was paid for where it was held. */
export function toImportedEvents(steps: StoredConversation["steps"], place: ImportPlace): AgentEvent[] {
  const writer = new EventWriter(place);
  for (const step of steps) {
    if (step.type === "answer") writer.answer(step);
    else writer.input(step);
  }
  return writer.finish();
}

class EventWriter {
  readonly #place: ImportPlace;
  readonly #events: AgentEvent[] = [];
  #turnId: string | undefined;
  #at: string;
  #said = "";

  constructor(place: ImportPlace) {
    this.#place = place;
    this.#at = place.now;
  }

  input({ line, content, isMeta }: StoredInput): void {
    const input = { role: "user" as const, content: toParts(content) };
    this.#look(line);
    if (isMeta && this.#turnId !== undefined) return this.#emit({ type: "input.added", input, origin: "user" }, [line.uuid]);
    this.#endTurn();
    this.#turnId = line.uuid;
    this.#emit({ type: "turn.started", input }, [line.uuid]);
  }

  answer({ lines, results }: StoredAnswer): void {
    const blocks = lines.flatMap((line) => blocksOf(line).map((block) => ({ line, part: toAssistantPart(block) })));
    const content = blocks.map(({ part }) => part);
    const [first] = lines;
    if (!first || content.length === 0) return;
    this.#look(first);
    const message = isJsonObject(first["message"]) ? first["message"] : {};
    const id = typeof message["model"] === "string" ? message["model"] : "unknown";
    const calls = content.flatMap((part) => (part.type === "tool-call" ? [part] : []));
    this.#said = textOf(content) || this.#said;
    this.#emit(
      {
        type: "message.ended",
        messageId: typeof message["id"] === "string" ? message["id"] : first.uuid,
        message: {
          role: "assistant",
          content,
          model: { provider: id.startsWith("claude") ? "anthropic" : "imported", id },
          finish: calls.length > 0 ? "tool-calls" : "stop",
          usage: { ...noUsage },
        },
        durationMs: 0,
        requestedModel: id,
      },
      blocks.map(({ line }) => line.uuid),
    );
    for (const { callId, name, input } of calls) {
      const result = results.get(callId);
      if (!result) continue; // it was cut off, and the model will be told so
      this.#look(result.line);
      const isError = result.block["is_error"] === true;
      const output = toParts(result.block["content"] ?? "");
      this.#emit({ type: "tool.started", callId, name, input }, []);
      this.#emit(
        {
          type: "tool.ended",
          callId,
          name,
          status: isError ? "error" : "ok",
          result: { type: "tool-result", callId, name, content: output, isError },
          durationMs: 0,
        },
        [result.line.uuid],
      );
    }
  }

  finish(): AgentEvent[] {
    this.#endTurn();
    return this.#events;
  }

  #endTurn(): void {
    if (this.#turnId === undefined) return;
    const outcome = { type: "completed", text: this.#said } as const;
    this.#emit({ type: "turn.ended", outcome, usage: { ...noUsage }, modelCalls: 0, durationMs: 0, modelDurationMs: 0 }, []);
    this.#turnId = undefined;
    this.#said = "";
  }

  #look({ timestamp }: StoredLine): void {
    if (typeof timestamp === "string" && !Number.isNaN(Date.parse(timestamp))) this.#at = new Date(timestamp).toISOString();
  }

  #emit(body: EventBody, importedAs: string[]): void {
    const { sessionId, after } = this.#place;
    const envelope = {
      seq: after + this.#events.length + 1,
      at: this.#at,
      sessionId,
      ...defined({ turnId: this.#turnId }),
      ...(importedAs.length > 0 && { importedAs }),
    };
    this.#events.push(Object.assign(envelope, body) as AgentEvent); // an envelope and a body of one type make that type's event
  }
}

function toAssistantPart(block: JsonObject): AssistantPart {
  const { type, text, thinking, signature, id, name, input } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "thinking" && typeof thinking === "string") {
    const seal = typeof signature === "string" && signature !== "" ? { providerMetadata: { [dialect]: { signature } } } : {};
    return { type: "reasoning", text: thinking, ...seal };
  }
  if (type === "tool_use" && typeof id === "string" && typeof name === "string")
    return { type: "tool-call", callId: id, name, input: isJsonObject(input) ? input : {} };
  return { type: "opaque", dialect, value: block };
}

/** Whose blocks they are. */
const dialect = "anthropic-messages";

function toParts(content: JsonValue): (TextPart | ImagePart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (Array.isArray(content) ? content.filter(isJsonObject) : []).map((block) => {
    const { type, text, source } = block;
    if (type === "text" && typeof text === "string") return { type: "text", text };
    if ((type === "image" || type === "document") && isJsonObject(source)) {
      const { type: kind, media_type: mediaType, data, url } = source;
      const isTaken = type === "image" || mediaType === pdfType;
      if (kind === "base64" && isTaken && typeof mediaType === "string" && typeof data === "string")
        return { type: "image", mediaType, data };
      if (kind === "url" && typeof url === "string")
        return { type: "image", mediaType: type === "image" ? "image/*" : pdfType, data: "", url };
    }
    return { type: "text", text: `[${String(type)}, which was not taken over]` };
  });
}
