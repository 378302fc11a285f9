import type { OutputFormat } from "@outrider/runtime/host";

/**
 * A model's words on a terminal must not move the cursor, set its title, fill the clipboard or turn the reading direction: what a terminal
 * would obey is shown as it is written. Files and pipes get every byte. JSON says the same with these escapes, so one function serves all.
 */
export function terminalText(text: string): string {
  return text.replace(obeyed, (character) => character.split("").map(escaped).join(""));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Control characters but line feed and tab; what turns or breaks lines; letters that cannot be seen. Joiners stay: emoji need them. */
const obeyed =
  /\r(?!\n)|[^\P{Cc}\n\t\r]|[\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** The same output, safe for a terminal. */
export function forTerminal(format: OutputFormat): OutputFormat {
  return {
    ...format,
    event: (event) => {
      const text = format.event(event);
      return text && terminalText(text);
    },
    end: async (outcome) => terminalText(await format.end(outcome)),
  };
}
