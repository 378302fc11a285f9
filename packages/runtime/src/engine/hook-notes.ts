import type { TextPart } from "../protocol/content.ts";
import type { HookEventName } from "../protocol/events.ts";

/** What a hook wants the model to know, marked as coming from the machine it works on and not from the person it works for. */
export function toNote(event: HookEventName, text: string): string {
  return `<system-reminder>\n${event} hook: ${text}\n</system-reminder>`;
}

export function toNoteParts(event: HookEventName, texts: readonly string[]): TextPart[] {
  return texts.map((text) => ({ type: "text", text: toNote(event, text) }));
}
