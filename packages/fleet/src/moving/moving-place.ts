import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { makeFolder } from "@outrider/runtime/host";
import type { ObjectStore } from "../stores/object-store.ts";
import { type KnownRun, prefixOf, restoreRun, type RunPlace, saveRun } from "../stores/saved-run.ts";

export type MovingPlaceOptions = RunPlace & {
  readonly store: ObjectStore;
  /** Makes the working tree as it was at first, where it is missing. */
  readonly makeTree?: (() => Promise<void>) | undefined;
};

/** A run's folders on this machine, and what of them the store has. */
export class MovingPlace {
  readonly #options: MovingPlaceOptions;
  /** What the folders here are at, and what of them is in the store. */
  #here: { readonly key: string | undefined; readonly known: KnownRun | undefined } | undefined;
  #step = 0;
  #attempt = 1;
  #intents = 0;

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
    const last = (await store.list(`${prefixOf(this.#options.runId)}/${this.#intentsOfStep}`)).at(-1);
    this.#attempt = last === undefined ? 1 : attemptOf(last) + 1;
    let known: KnownRun | undefined;
    if (key !== undefined) {
      if (tree !== undefined) {
        rmSync(tree, { recursive: true, force: true });
        await makeTree?.();
      }
      known = await restoreRun(store, this.#options, key);
    }
    if (last !== undefined) {
      const { saved } = await restoreRun(store, { ...this.#options, tree: undefined }, last);
      known = { key: undefined, saved: { ...saved, tree: known?.saved.tree } };
    }
    this.#here = { key, known };
  }

  /** Keeps everything as it is now, and answers the name of that; undefined while there is nothing. */
  async save(): Promise<string | undefined> {
    const { store, tree } = this.#options;
    const place = { ...this.#options, tree: tree !== undefined && existsSync(tree) ? tree : undefined };
    const kept = await saveRun(store, place, this.#here?.known);
    this.#here = { key: kept?.key, known: kept };
    return kept?.key;
  }

  /** A call is about to be made: whoever takes the run up after us must know that it may have been. */
  async saveIntent(): Promise<void> {
    const { store } = this.#options;
    const before = this.#here?.known;
    // No two workers write the same object: a worker that the engine has given up may still be at it.
    const name = `${this.#intentsOfStep}${digits(this.#attempt)}-${digits(++this.#intents)}-${randomUUID()}`;
    const intent = await saveRun(store, { ...this.#options, tree: undefined }, before, name);
    if (!intent) return;
    this.#here = { key: this.#here?.key, known: { key: undefined, saved: { ...intent.saved, tree: before?.saved.tree } } };
  }

  /** Begins the keys of what was written down in this step before it was done; the attempt and a number behind it let them sort by age. */
  get #intentsOfStep(): string {
    return `intent-${digits(this.#step)}-`;
  }
}

function attemptOf(intentKey: string): number {
  const [, , attempt] = (intentKey.split("/").at(-1) ?? "").split("-");
  return Number(attempt);
}

function digits(number: number): string {
  return String(number).padStart(6, "0");
}
