import { existsSync, rmSync } from "node:fs";
import { makeFolder } from "@outrider/runtime/host";
import type { ObjectStore } from "../stores/object-store.ts";
import { prefixOf, restoreRun, type RunPlace, type SavedRun, saveRun } from "../stores/saved-run.ts";

export type MovingPlaceOptions = RunPlace & {
  readonly store: ObjectStore;
  /** Makes the working tree as it was at first, where it is missing. */
  readonly makeTree?: (() => Promise<void>) | undefined;
};

/** A run's folders on this machine, and what of them the store has. */
export class MovingPlace {
  readonly #options: MovingPlaceOptions;
  /** What the folders here are at. */
  #here: { readonly key: string | undefined; readonly saved: SavedRun | undefined } | undefined;
  #step = 0;
  #attempt = 1;

  constructor(options: MovingPlaceOptions) {
    this.#options = options;
  }

  /** Brings the folders to the state of `key`, and to what an earlier attempt at this step has written down before it was cut off. */
  async bring(key: string | undefined, step: number): Promise<void> {
    this.#step = step;
    if (this.#here && this.#here.key === key) return;
    const { store, journalFolder, tree, gitFolder, makeTree } = this.#options;
    for (const folder of [journalFolder, gitFolder]) rmSync(folder, { recursive: true, force: true });
    makeFolder(journalFolder, 0o777);
    const tails = await store.list(this.#tailPrefix);
    this.#attempt = tails.length + 1;
    if (key === undefined) {
      this.#here = { key, saved: undefined };
      return;
    }
    if (tree !== undefined) {
      rmSync(tree, { recursive: true, force: true });
      await makeTree?.();
    }
    const saved = await restoreRun(store, this.#options, key);
    const last = tails.at(-1);
    const tail = last === undefined ? undefined : await store.get(last);
    if (!tail) {
      this.#here = { key, saved };
      return;
    }
    const { files } = await restoreRun(store, { ...this.#options, tree: undefined }, Buffer.from(tail).toString());
    this.#here = { key, saved: { ...saved, files } };
  }

  /** Keeps everything as it is now, and answers the name of that. */
  async save(): Promise<string> {
    const { store, tree } = this.#options;
    const place = { ...this.#options, tree: tree !== undefined && existsSync(tree) ? tree : undefined };
    const { key, saved } = await saveRun(store, place, this.#here?.saved);
    this.#here = { key, saved };
    return key;
  }

  /** A call is about to be made: whoever takes the run up after us must know that it may have been. */
  async saveIntent(): Promise<void> {
    const { store } = this.#options;
    const { key, saved } = await saveRun(store, { ...this.#options, tree: undefined }, this.#here?.saved);
    this.#here = { key: this.#here?.key, saved: { ...saved, tree: this.#here?.saved?.tree } };
    await store.put(`${this.#tailPrefix}${String(this.#attempt).padStart(6, "0")}`, Buffer.from(key));
  }

  get #tailPrefix(): string {
    return `${prefixOf(this.#options.runId)}/tails/${String(this.#step).padStart(6, "0")}-`;
  }
}
