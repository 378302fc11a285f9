import type { RunModel, Step } from "../model/run-model.ts";
import { dollars, duration } from "./format.ts";
import { stateWord } from "./header.tsx";

/** The run in words, to be put into an issue or a chat: what was said whole, calls in a line each. */
export function toMarkdown(run: RunModel): string {
  const facts = [run.models[0], duration(run.durationMs), `${run.steps.length} steps`, dollars(run.totals.costUsd)]
    .filter(Boolean)
    .join(" · ");
  return [`# ${stateWord(run.outcome)}: ${run.outcome.what}`, facts, ...run.steps.map(stepText)].join("\n\n").concat("\n");
}

function stepText(step: Step): string {
  const calls = step.calls
    .map((call) => `- ${call.tool} ${fenced(call.preview)}${call.result ? `: ${call.result}` : ""}`)
    .join("\n");
  const title =
    step.kind === "prompt"
      ? `## ${step.n}. ${step.who ?? "Prompt"}`
      : step.kind === "rule"
        ? `## ${step.n}. ${step.rule?.title}`
        : `## ${step.n}.`;
  return [title, step.text?.text.trim(), calls].filter(Boolean).join("\n\n");
}

function fenced(text: string): string {
  if (text === "") return "";
  const fence = "`".repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return fence.length > 1 ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`;
}
