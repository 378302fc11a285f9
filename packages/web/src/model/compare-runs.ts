import { firstLine, shorten } from "./describe-call.ts";
import type { CallStatus, RunModel } from "./run-model.ts";

/** One thing a run did: a call, or something that was said without one. */
export type Deed = {
  readonly step: number;
  readonly tool: string;
  readonly kind: string;
  readonly preview: string;
  readonly result: string;
  readonly status: CallStatus;
  readonly added?: number;
  readonly removed?: number;
};

/** `same`: the same call on the same thing. `alike`: the same tool in the same place, on something else or with another result. */
export type DeedPair = { readonly kind: "same" | "alike" | "only-a" | "only-b"; readonly a?: Deed; readonly b?: Deed };

export type Comparison = {
  readonly pairs: readonly DeedPair[];
  /** The first pair that is not the same; absent when all are. */
  readonly partsAt?: number;
  /** Only the beginnings of very long runs are compared. */
  readonly leftOut: number;
};

const most = 2500;

/** Two runs side by side: what both did, in the order in which both did it, and between that what only one of them did. */
export function compareRuns(a: RunModel, b: RunModel): Comparison {
  const [allOfA, allOfB] = [deedsOf(a), deedsOf(b)];
  const [left, right] = [allOfA.slice(0, most), allOfB.slice(0, most)];
  const pairs = align(left, right);
  const partsAt = pairs.findIndex((pair) => pair.kind !== "same");
  const leftOut = allOfA.length - left.length + allOfB.length - right.length;
  return { pairs, leftOut, ...(partsAt >= 0 && { partsAt }) };
}

function deedsOf({ steps }: RunModel): Deed[] {
  return steps.flatMap((step): Deed[] => {
    if (step.kind === "prompt") return [];
    const n = { step: step.n };
    if (step.rule)
      return step.rule.kind === "compaction"
        ? [{ ...n, tool: "Compaction", kind: "compaction", preview: "", result: "", status: "ok" }]
        : [];
    if (step.calls.length === 0)
      return step.text
        ? [{ ...n, tool: "", kind: "model", preview: shorten(firstLine(step.text.text), 160), result: "", status: "ok" }]
        : [];
    return step.calls.map((call) => {
      const changed = call.status === "ok" ? (call.edits ?? []) : [];
      const sum = (key: "added" | "removed"): number => changed.reduce((all, edit) => all + edit[key], 0);
      return {
        ...{ ...n, tool: call.tool, kind: call.kind, preview: call.preview, result: call.result, status: call.status },
        ...(changed.length > 0 && { added: sum("added"), removed: sum("removed") }),
      };
    });
  });
}

/** The longest common course, by tool and target. */
function align(a: readonly Deed[], b: readonly Deed[]): DeedPair[] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = isOnSame(a[i], b[j])
        ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
        : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const pairs: DeedPair[] = [];
  let [i, j] = [0, 0];
  let [onlyA, onlyB]: [Deed[], Deed[]] = [[], []];
  const settle = (): void => {
    pairs.push(...between(onlyA, onlyB));
    [onlyA, onlyB] = [[], []];
  };
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left && right && isOnSame(left, right)) {
      settle();
      pairs.push({ kind: left.status === right.status && left.result === right.result ? "same" : "alike", a: left, b: right });
      i++;
      j++;
    } else if (left && (!right || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))) {
      onlyA.push(left);
      i++;
    } else if (right) {
      onlyB.push(right);
      j++;
    }
  }
  settle();
  return pairs;
}

function isOnSame(a: Deed | undefined, b: Deed | undefined): boolean {
  return a !== undefined && b !== undefined && a.tool === b.tool && a.preview === b.preview;
}

/** What the two did between two things that both did: calls of one tool stand side by side, in their order. */
function between(a: readonly Deed[], b: readonly Deed[]): DeedPair[] {
  const pairs: DeedPair[] = [];
  let at = 0;
  for (const left of a) {
    const found = b.findIndex((right, index) => index >= at && right.tool === left.tool);
    if (found < 0) {
      pairs.push({ kind: "only-a", a: left });
      continue;
    }
    for (; at < found; at++) pairs.push(only("only-b", b[at]));
    pairs.push({ kind: "alike", a: left, ...(b[found] && { b: b[found] }) });
    at = found + 1;
  }
  return [...pairs, ...b.slice(at).map((right) => only("only-b", right))];
}

function only(kind: "only-b", b: Deed | undefined): DeedPair {
  return { kind, ...(b && { b }) };
}
