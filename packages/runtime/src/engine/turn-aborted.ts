import type { CancelCause } from "../protocol/outcome.ts";

/** The abort reason of a turn that somebody stopped; its cause ends up in the outcome. */
export class TurnAborted extends Error {
  override readonly name = "TurnAborted";
  readonly by: CancelCause;

  constructor(by: CancelCause) {
    super(`The turn was stopped (${by})`);
    this.by = by;
  }
}
