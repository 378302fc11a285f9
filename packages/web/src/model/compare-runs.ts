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
  /** Of very long runs that part early not everything is aligned. */
  readonly leftOut: number;
};

/** So many of each between what both begin and end with are aligned: time and memory grow with the square. */
const most = 2500;

/** Two runs side by side: what both did, in the order in which both did it, and between that what only one of them did. */
export function compareRuns(a: RunModel, b: RunModel): Comparison {
  const [left, right] = [deedsOf(a), deedsOf(b)];
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && isOnSame(left[start], right[start])) start++;
  let end = 0;
  while (end < shorter - start && isOnSame(left.at(-1 - end), right.at(-1 - end))) end++;
  const [middleA, middleB] = [left, right].map((deeds) => deeds.slice(start, deeds.length - end)) as [Deed[], Deed[]];
  const pairs = [
    ...left.slice(0, start).map((deed, at) => both(deed, right[at])),
    ...align(middleA.slice(0, most), middleB.slice(0, most)),
    ...left.slice(left.length - end).map((deed, at) => both(deed, right[right.length - end + at])),
  ];
  const partsAt = pairs.findIndex((pair) => pair.kind !== "same");
  const leftOut = Math.max(0, middleA.length - most) + Math.max(0, middleB.length - most);
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
  const [left = new Int32Array(), right = new Int32Array()] = numbered(a, b);
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: DeedPair[] = [];
  let [i, j] = [0, 0];
  let [onlyA, onlyB]: [Deed[], Deed[]] = [[], []];
  const settle = (): void => {
    pairs.push(...between(onlyA, onlyB));
    [onlyA, onlyB] = [[], []];
  };
  while (i < a.length || j < b.length) {
    const [deed, other] = [a[i], b[j]];
    if (deed && other && left[i] === right[j]) {
      settle();
      pairs.push(both(deed, other));
      i++;
      j++;
    } else if (deed && (!other || at(i + 1, j) >= at(i, j + 1))) {
      onlyA.push(deed);
      i++;
    } else if (other) {
      onlyB.push(other);
      j++;
    }
  }
  settle();
  return pairs;
}

/** The same tool on the same thing has the same number: millions of numbers are compared faster than words. */
function numbered(...runs: readonly (readonly Deed[])[]): Int32Array[] {
  const numbers = new Map<string, number>();
  const numberOf = ({ tool, preview }: Deed): number => {
    const key = `${tool}\n${preview}`;
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return known;
  };
  return runs.map((deeds) => Int32Array.from(deeds, numberOf));
}

function both(a: Deed, b: Deed | undefined): DeedPair {
  const kind = a.status === b?.status && a.result === b.result ? "same" : "alike";
  return { kind, a, ...(b && { b }) };
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
