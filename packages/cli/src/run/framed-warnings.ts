import type { AgentEvent } from "@outrider/runtime";
import { createRedactor, type OutputFormat } from "@outrider/runtime/host";

/** Warnings that no event of the session tells. */
export interface Warnings {
  warn(message: string): void;
  /** The format with these warnings among its own frames, behind the first ones of a turn. */
  among(format: OutputFormat): OutputFormat;
}

/** Each is said once, as the events of a session are. */
export function frameWarnings(): Warnings {
  const redactor = createRedactor({ env: process.env });
  const told = new Set<string>();
  const waiting: string[] = [];
  const among = (format: OutputFormat): OutputFormat => {
    let last: AgentEvent | undefined;
    const say = (): string => {
      const { at = new Date().toISOString(), sessionId = "", seq = 0 } = last ?? {};
      const event = (message: string): AgentEvent => ({ type: "warning.raised", message, at, sessionId, seq });
      return waiting
        .splice(0)
        .map((message) => format.event(event(message)))
        .join("");
    };
    return {
      event(event) {
        const text = format.event(event);
        if (event.type === "turn.started") last ??= event;
        return last && waiting.length > 0 ? text + say() : text;
      },
      ...(format.judge && { judge: (outcome) => format.judge?.(outcome) ?? outcome }),
      // A result is made in two steps: what it holds is looked at before anything is waited for.
      end: (outcome) => {
        const before = say();
        return format.end(outcome).then((text) => before + text);
      },
      close: async (outcome) => say() + ((await format.close?.(outcome)) ?? ""),
    };
  };
  return {
    warn(message) {
      const text = redactor.text(message);
      if (told.has(text)) return;
      told.add(text);
      waiting.push(text);
    },
    among,
  };
}
