import { fits } from "./match.ts";
import { type Json, type JsonRecord, kindOf } from "./structure.ts";

/** One line of a conformance list: what must be true of the transcripts of its scenarios. */
export type Requirement = {
  readonly id: string;
  readonly text: string;
  /** Numbers of the black-box behaviours it also proves. */
  readonly vectors?: readonly number[];
  readonly proofs: readonly Proof[];
};

export type Proof = { readonly scenario: string } & Partial<{
  readonly exit: number;
  /** The whole stdout; of the text format. */
  readonly stdout: string;
  readonly stderr: string;
  /** The kinds of all frames, in order; runs of deltas count once. */
  readonly kinds: readonly string[];
  readonly first: string;
  readonly last: string;
  /** Frames that fit, in this order, with others between them. */
  readonly frames: readonly JsonRecord[];
  /** No frame fits. */
  readonly none: readonly JsonRecord[];
  /** Every frame fits. */
  readonly every: JsonRecord;
  /** How many frames fit. */
  readonly count: readonly { readonly of: JsonRecord; readonly is: number }[];
  /** What the model was sent, request by request, as text. */
  readonly requests: readonly string[];
}>;

export type Transcript = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly frames: readonly JsonRecord[];
  readonly requests: readonly Json[];
};

/** What of a proof does not hold; empty when all does. */
export function refute(proof: Proof, transcript: Transcript): string[] {
  const { code, stdout, stderr, frames, requests } = transcript;
  const kinds = withoutRuns(frames.map(kindOf));
  const found: string[] = [];
  const check = (holds: boolean, what: string): void => {
    if (!holds) found.push(what);
  };
  if (proof.exit !== undefined) check(code === proof.exit, `exit ${code}, not ${proof.exit}`);
  if (proof.stdout !== undefined) check(fits(proof.stdout, stdout), `stdout is ${JSON.stringify(stdout.slice(0, 300))}`);
  if (proof.stderr !== undefined) check(fits(proof.stderr, stderr), `stderr is ${JSON.stringify(stderr.slice(0, 300))}`);
  if (proof.kinds) check(fits([...proof.kinds], kinds), `the frames are ${kinds.join(", ")}`);
  if (proof.first !== undefined) check(kinds[0] === proof.first, `the first frame is ${kinds[0]}`);
  if (proof.last !== undefined) check(kinds.at(-1) === proof.last, `the last frame is ${kinds.at(-1)}`);
  let at = 0;
  for (const pattern of proof.frames ?? []) {
    const next = frames.slice(at).findIndex((frame) => fits(pattern, frame));
    check(next !== -1, `no frame fits ${JSON.stringify(pattern)} after frame ${at} of ${kinds.join(", ")}`);
    at += next + 1;
  }
  for (const pattern of proof.none ?? [])
    check(!frames.some((frame) => fits(pattern, frame)), `a frame fits ${JSON.stringify(pattern)}`);
  const every = proof.every;
  if (every)
    check(frames.length > 0 && frames.every((frame) => fits(every, frame)), `not every frame fits ${JSON.stringify(every)}`);
  for (const { of, is } of proof.count ?? []) {
    const count = frames.filter((frame) => fits(of, frame)).length;
    check(count === is, `${count} frames, not ${is}, fit ${JSON.stringify(of)}`);
  }
  for (const [index, pattern] of (proof.requests ?? []).entries())
    check(fits(pattern, JSON.stringify(requests[index] ?? null)), `request ${index + 1} does not fit ${pattern}`);
  if (proof.requests) check(requests.length === proof.requests.length, `${requests.length} requests`);
  return found;
}

/** How many deltas a block has, and how often its thinking is told, is nobody's promise. */
function withoutRuns(kinds: readonly string[]): string[] {
  const thoughts = kinds.filter((kind, index) => kind !== "system/thinking_tokens" || !isThinking(kinds.slice(0, index)));
  return thoughts.filter((kind, index) => !kind.includes("_delta") || kind !== thoughts[index - 1]);
}

/** Since thinking was told of, nothing came but deltas. */
function isThinking(before: readonly string[]): boolean {
  return before.findLast((kind) => !kind.includes("_delta")) === "system/thinking_tokens";
}
