import type { ChangedSince } from "../../checkpoints/changes-since.ts";

export type { ChangedSince };
import type { CheckpointInspection, CheckpointSummary, RestoreOptions, RewindOptions } from "../../checkpoints/checkpoints.ts";
import type { RestoreResult } from "../../checkpoints/restore.ts";
import type { RewindFilesResult } from "../../checkpoints/rewind-files.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Emit } from "../../protocol/events.ts";
import type { TurnCheckpoints } from "./turn-checkpoints.ts";

/** The files of an open session, as they were before each of its turns. Going back is refused while a turn runs, and is on record. */
export class EditCheckpoints {
  readonly #turns: TurnCheckpoints | undefined;
  readonly #emit: Emit;

  constructor(turns: TurnCheckpoints | undefined, emit: Emit) {
    this.#turns = turns;
    this.#emit = emit;
  }

  async list(): Promise<CheckpointSummary[]> {
    return await (await this.#kept.history("look")).list();
  }

  async inspect(id: string): Promise<CheckpointInspection> {
    return await (await this.#kept.history("look")).inspect(id);
  }

  /** Files that are not as they were when the session first changed them; none where no checkpoints are kept. */
  async changes(): Promise<ChangedSince[]> {
    return this.#turns ? await (await this.#turns.history("look")).changes() : [];
  }

  /** Puts the files as the checkpoint left them. */
  async restore(id: string, options: RestoreOptions = {}): Promise<RestoreResult> {
    const checkpoints = await this.#kept.history(options.dryRun ? "look" : "change");
    return this.#record("restore", id, await checkpoints.restoreTo(id, options));
  }

  /** Puts the files as they were before the checkpoint. */
  async rollback(id: string, options: RestoreOptions = {}): Promise<RestoreResult> {
    const checkpoints = await this.#kept.history(options.dryRun ? "look" : "change");
    return this.#record("rollback", id, await checkpoints.rollbackThrough(id, options));
  }

  /** The same, in the words of the SDK. */
  async rewindFiles(id: string, { dryRun = false }: Pick<RewindOptions, "dryRun"> = {}): Promise<RewindFilesResult> {
    const checkpoints = await this.#kept.history(dryRun ? "look" : "change");
    return await checkpoints.rewindFiles(id, { dryRun, onRestored: (result) => void this.#record("rollback", id, result) });
  }

  get #kept(): TurnCheckpoints {
    if (this.#turns) return this.#turns;
    throw new RuntimeError("usage", "This session keeps no checkpoints of files");
  }

  #record(kind: "restore" | "rollback", target: string, result: RestoreResult): RestoreResult {
    if (result.type !== "restored") return result;
    const { changes, obstacles, uncovered, commands } = result.plan;
    this.#emit({
      type: "checkpoint.restored",
      checkpointId: result.checkpointId,
      kind,
      target,
      files: changes.map(({ path }) => path),
      leftAlone: [...obstacles, ...uncovered].map(({ path }) => path),
      commandCount: commands.length,
    });
    return result;
  }
}
