import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { Masked } from "../../util/masked.ts";

/** How it went, as it may be shown: `InteractiveSession.shown` makes one. */
export type ShownOutcome = Masked<Outcome>;

/** How a run is written to stdout. A format only encodes: it decides nothing and keeps no more than it needs to encode. */
export interface OutputFormat {
  /** The text an event adds to the output; empty for most. */
  event(event: AgentEvent): string;
  /** The last word on how it went, where writing it down can fail too. */
  judge?(outcome: Outcome): Outcome;
  /** The end of the output. Called exactly once per prompt, on every path. */
  end(outcome: ShownOutcome): Promise<string>;
  /** Where one output holds several prompts: its last words, with how the last of them went. Called once, after everything else. */
  close?(outcome: ShownOutcome): Promise<string>;
}

/** Which messages of a host are answered by what is written now, by the names it gave them, and how many more wait. */
export type AnsweredPrompts = { readonly uuids: readonly string[]; readonly waiting: number };

export type OutputFormatName = "text" | "json" | "stream-json";

export const outputFormatNames: readonly OutputFormatName[] = ["text", "json", "stream-json"];
