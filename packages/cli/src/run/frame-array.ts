import type { OutputFormat } from "@outrider/runtime/host";

/** All lines of a format as one JSON array, written at the end: Claude Code's `json --verbose`. */
export function asArray(lines: OutputFormat): OutputFormat {
  let gathered = "";
  return {
    event(event) {
      gathered += lines.event(event);
      return "";
    },
    ...(lines.judge && { judge: (outcome) => lines.judge?.(outcome) ?? outcome }),
    async end(outcome) {
      gathered += await lines.end(outcome);
      return `[${gathered.trimEnd().split("\n").join(",")}]\n`;
    },
  };
}
