import {
  type AssistantMessage,
  callsOf,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
} from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";

/**
 * Pure projection: the stored events are the session; messages are only a way of reading them.
 * Results stand in the order of their calls, whichever finished first, so that a resumed request is byte for byte
 * the one that would have been sent. A call that was cut off gets a result saying how far it had come.
 */
export function toMessages(events: Iterable<AgentEvent>): Message[] {
  const messages: Message[] = [];
  const results = new Map<string, ToolResultPart>();
  const started = new Set<string>();
  const open: { index: number; message: AssistantMessage }[] = [];
  for (const event of events) {
    switch (event.type) {
      case "turn.started":
      case "input.added":
        messages.push(event.input);
        break;
      case "message.ended":
        messages.push(event.message);
        if (callsOf(event.message).length > 0) {
          open.push({ index: messages.length, message: event.message });
          messages.push({ role: "tool", content: [] }); // filled below, when all results are known
        }
        break;
      case "tool.started":
        started.add(event.callId);
        break;
      case "tool.ended":
        results.set(event.callId, event.result);
        break;
    }
  }
  for (const { index, message } of open) messages[index] = toolMessage(message, { results, started });
  return messages;
}

function unfinishedResult(call: ToolCallPart, started: boolean): ToolResultPart {
  const text = started
    ? "Outcome unknown: this call was started, and the run ended before its result was recorded. It was not repeated. Check its effects before you call it again."
    : "Not run: the run was interrupted before this call started.";
  return { type: "tool-result", callId: call.callId, name: call.name, content: [{ type: "text", text }], isError: true };
}

function toolMessage(
  message: AssistantMessage,
  known: { results: ReadonlyMap<string, ToolResultPart>; started: ReadonlySet<string> },
): ToolMessage {
  const content = callsOf(message).map(
    (call) => known.results.get(call.callId) ?? unfinishedResult(call, known.started.has(call.callId)),
  );
  return { role: "tool", content };
}
