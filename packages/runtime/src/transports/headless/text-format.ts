import { hasAnswer } from "../../protocol/outcome.ts";
import type { OutputFormat } from "./output-format.ts";

/** The answer and nothing else. The formats of machines are not loaded for it. */
export function createTextFormat(): OutputFormat {
  return {
    event: () => "",
    end: async (outcome) => (hasAnswer(outcome) ? `${outcome.text}\n` : ""),
  };
}
