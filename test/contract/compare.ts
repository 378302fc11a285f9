import type { Shape, Structure } from "./structure.ts";

/** One way in which two transcripts differ, in words that a row of the table can match: `frame-missing system/x`, `field-extra result.y`. */
export type Difference = string;

/** What is different in the kinds, the order, the fields and the types of their values. */
export function compare(expected: readonly Structure[], actual: readonly Structure[]): Difference[] {
  const lanes = new Set([...expected, ...actual].map(({ lane }) => lane));
  return [...new Set([...lanes].flatMap((lane) => compareLane(inLane(expected, lane), inLane(actual, lane))))];
}

function inLane(frames: readonly Structure[], lane: number): Structure[] {
  return frames.filter((frame) => frame.lane === lane);
}

function compareLane(expected: readonly Structure[], actual: readonly Structure[]): Difference[] {
  return align(withoutRuns(expected), withoutRuns(actual)).flatMap(([old, fresh]) => {
    if (!fresh) return [`frame-missing ${old?.kind}`];
    return old ? compareShapes(old.shape, fresh.shape, placeOf(old.kind)) : [`frame-extra ${fresh.kind}`];
  });
}

/** Results of all kinds are compared as one. */
function placeOf(kind: string): string {
  const [type = "", subtype] = kind.split("/");
  return subtype === undefined || type === "result" ? type : `${type}/${subtype}`;
}

/** How many deltas a block comes in is the model's choice, and how often it is told how much was thought is the clock's. */
function withoutRuns(frames: readonly Structure[]): Structure[] {
  let last = "";
  let isThinking = false;
  return frames.filter(({ kind }) => {
    const isThought = kind === "system/thinking_tokens";
    const repeated = isThought ? isThinking : kind.includes("_delta/") && kind === last;
    isThinking = isThought || (isThinking && kind.includes("_delta/"));
    if (kind.startsWith("stream_event")) last = kind; // other frames may stand between two deltas
    return !repeated;
  });
}

type Pair = readonly [Structure | undefined, Structure | undefined];

/** The longest common subsequence of kinds; what is in one only stands alone. */
function align(a: readonly Structure[], b: readonly Structure[]): Pair[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row) row[j] = a[i]?.kind === b[j]?.kind ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: Pair[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i]?.kind === b[j]?.kind) pairs.push([a[i++], b[j++]]);
    else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) pairs.push([a[i++], undefined]);
    else pairs.push([undefined, b[j++]]);
  }
  return pairs;
}

function compareShapes(old: Shape | undefined, fresh: Shape | undefined, path: string): Difference[] {
  if (fresh === undefined) return [`field-missing ${path}`];
  if (old === undefined) return [`field-extra ${path}`];
  if (Array.isArray(old) && Array.isArray(fresh)) {
    const [a, b] = [old[0], fresh[0]];
    return a === undefined || b === undefined ? [] : compareShapes(a, b, `${path}[]`); // an empty list says nothing of its kind
  }
  if (typeof old === "object" && typeof fresh === "object" && !Array.isArray(old) && !Array.isArray(fresh)) {
    const fields = new Set([...Object.keys(old), ...Object.keys(fresh)]);
    return [...fields].flatMap((field) => compareShapes(old[field], fresh[field], `${path}.${field}`));
  }
  const [a, b] = [nameOf(old), nameOf(fresh)];
  return a === b ? [] : [`type ${path}: ${a} is ${b}`];
}

function nameOf(shape: Shape): string {
  if (typeof shape === "string") return shape;
  return Array.isArray(shape) ? "array" : "object";
}
