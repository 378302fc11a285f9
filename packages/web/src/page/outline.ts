import { isBad } from "../model/run-builder.ts";
import type { Call, RunModel, Step } from "../model/run-model.ts";
import type { IconName } from "./icons.tsx";

export type OutlineEntry = { readonly step: number; readonly icon: IconName; readonly text: string };

const most = 20;

/** What a reader may want to jump to. Neighbours of one kind become one line when there are too many. */
export function outlineOf({ steps }: RunModel): OutlineEntry[] {
  let hasEdit = false;
  const entries = steps.flatMap((step): OutlineEntry[] => {
    const at = (icon: IconName, text: string): OutlineEntry => ({ step: step.n, icon, text });
    if (step.kind === "rule")
      return step.rule?.kind === "compaction"
        ? [at("compaction", "Compaction")]
        : step.rule?.kind === "warning"
          ? [at("warn", step.rule.title)]
          : [];
    if (step.kind === "prompt") return step.who === undefined ? [at("user", "Prompt")] : [];
    const found: OutlineEntry[] = [];
    const bad = step.calls.find(isBad);
    if (bad) found.push(at(bad.status === "denied" ? "denied" : "error", describeBad(bad)));
    const edit = hasEdit ? undefined : step.calls.find((call) => call.edits?.length && call.status === "ok");
    if (edit) {
      hasEdit = true;
      found.push(at("edit", `First edit: ${edit.preview.split("/").at(-1) ?? ""}`));
    }
    const subagents = step.calls.filter((call) => call.subagent).length;
    if (subagents > 0) found.push(at("subagent", subagents === 1 ? "Subagent" : `${subagents} subagents`));
    if (step.retries) found.push(at("retry", `${step.retries.count} ${step.retries.count === 1 ? "retry" : "retries"}`));
    if (step.isFinal) found.push(at("model", "Answer"));
    return found;
  });
  return entries.length <= most ? entries : joined(entries);
}

function describeBad(call: Call): string {
  if (call.status === "denied") return `Denied: ${call.preview || call.tool}`;
  return `${call.preview || call.tool}${call.result ? `: ${call.result}` : ""}`;
}

function joined(entries: readonly OutlineEntry[]): OutlineEntry[] {
  const groups: { entry: OutlineEntry; count: number }[] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (last?.entry.icon === entry.icon) last.count++;
    else groups.push({ entry, count: 1 });
  }
  const lines = groups.map(({ entry, count }) => (count === 1 ? entry : { ...entry, text: `${count} × ${entry.text}` }));
  if (lines.length <= most) return lines;
  const half = most / 2;
  const middle: OutlineEntry = { step: lines[half]?.step ?? 1, icon: "info", text: `${lines.length - most + 1} more` };
  return [...lines.slice(0, half), middle, ...lines.slice(lines.length - half + 1)];
}

/** What is open when the page opens: the failed calls of the last failing step, what was denied, the first edit. */
export function openAtFirst(steps: readonly Step[]): Set<string> {
  const open = new Set<string>();
  const add = (step: Step, fits: (call: Call) => boolean): void =>
    step.calls.forEach((call, at) => {
      if (fits(call)) open.add(`step-${step.n}-call-${at + 1}`);
    });
  const failing = steps.findLast((step) => step.calls.some((call) => call.status === "error"));
  if (failing) add(failing, (call) => call.status === "error");
  const denied = steps.findLast((step) => step.calls.some((call) => call.status === "denied"));
  if (denied) add(denied, (call) => call.status === "denied");
  const edit = steps.find((step) => step.calls.some((call) => call.edits?.length));
  if (edit) add(edit, (call) => (call.edits?.length ?? 0) > 0);
  return open;
}
