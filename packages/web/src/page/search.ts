import { isBad } from "../model/run-builder.ts";
import type { Call, Step, Value } from "../model/run-model.ts";

export type Filter = "all" | "message" | "tool" | "subagent" | "error";

const texts = new WeakMap<Step | Call, string>();

/** Everything that is told of it, closed or open. */
function textOf(item: Step | Call): string {
  const known = texts.get(item);
  if (known !== undefined) return known;
  const parts =
    "calls" in item
      ? [read(item.text), read(item.reasoning), item.rule?.title, read(item.rule?.detail), ...item.calls.map(textOf)]
      : [
          item.tool,
          item.preview,
          item.result,
          read(item.input),
          read(item.output),
          ...(item.subagent?.steps.map(textOf) ?? []),
          ...(item.edits ?? []).map((edit) => edit.rows.map((row) => row.text).join("\n")),
        ];
  const text = parts.join("\n").toLowerCase();
  texts.set(item, text);
  return text;
}

function read(value: Value | undefined): string {
  return value === undefined ? "" : value.cut ? `${value.text}\n${value.cut.tail}` : value.text;
}

export function findSteps(steps: readonly Step[], filter: Filter, query: string): readonly Step[] {
  const words = query.trim().toLowerCase();
  if (filter === "all" && words === "") return steps;
  return steps.filter((step) => isOf(step, filter) && textOf(step).includes(words));
}

/** Keys of the calls, as far as they are told from the step, that must be open for a reader to see what was found. */
export function openedBy(step: Step, query: string): string[] {
  const words = query.trim().toLowerCase();
  if (words.length < 2) return [];
  const ids = step.calls.flatMap((call, at) =>
    textOf(call).includes(words) && !`${call.tool} ${call.preview}`.toLowerCase().includes(words)
      ? [`step-${step.n}-call-${at + 1}`]
      : [],
  );
  return read(step.reasoning).toLowerCase().includes(words) ? [...ids, `step-${step.n}-reasoning`] : ids;
}

function isOf(step: Step, filter: Filter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "message":
      return step.text !== undefined;
    case "tool":
      return step.calls.length > 0;
    case "subagent":
      return step.calls.some((call) => call.subagent);
    case "error":
      return step.calls.some(isBad);
  }
}

/** What was found is marked where it stands, without a change to the elements. Browsers that cannot do it show it unmarked. */
export function markFound(root: HTMLElement | null, query: string): void {
  const words = query.trim().toLowerCase();
  if (!("highlights" in CSS) || typeof Highlight === "undefined") return;
  CSS.highlights.delete("found");
  if (!root || words.length < 2) return;
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? "";
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + words.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
