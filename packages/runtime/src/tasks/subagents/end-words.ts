import type { Outcome } from "../../protocol/outcome.ts";
import type { TaskEnd } from "../task.ts";

/** What the agent that asked reads of a subagent's end: its last words, or why there are none; what it was refused, and where its work is. */
export function toEndWords({ outcome, modelCalls, denials, worktree }: TaskEnd): string {
  const text = outcome.type === "completed" ? outcome.text : withLastWords(whyNot(outcome, modelCalls), outcome);
  const refused = denials.map(({ tool, reason }) => `- ${tool}: ${reason}`);
  const note = refused.length > 0 ? `\n\nCalls the subagent was not permitted:\n${refused.join("\n")}` : "";
  return text + note + (worktree ? `\n\n${worktree.summary}` : "");
}

export function withLastWords(what: string, { text }: Outcome): string {
  return text.trim() ? `${what} The last it said:\n${text}` : `${what} It had said nothing yet.`;
}

function whyNot(outcome: Exclude<Outcome, { type: "completed" }>, modelCalls: number): string {
  switch (outcome.type) {
    case "failed":
      return `The subagent failed: ${outcome.error.message} (${outcome.error.code}).`;
    case "cancelled":
      return "The subagent was stopped before it had finished.";
    case "stopped":
      if (outcome.limit === "max-turns")
        return `The subagent was stopped at its limit of ${modelCalls} model calls, before it had finished.`;
      if (outcome.limit === "max-budget") return "The subagent was stopped: the budget of the session is spent.";
      if (outcome.limit === "max-requests") return "The subagent was stopped: no more models may be asked for this prompt.";
      if (outcome.limit === "loop") return `The subagent went round in circles and was stopped: ${outcome.reason ?? ""}.`;
      return `A hook stopped the subagent: ${outcome.reason ?? "it gave no reason"}.`;
  }
}
