import { createHash } from "node:crypto";
import { appendFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import type { JsonValue } from "@outrider/runtime";
import { AppendLog, readLog } from "../util/append-log.ts";
import type { Approval, KeptFailure } from "./durable.ts";

/** What a run has done, in order. `started` without `done` or `failed`: nobody knows how far the step came. */
export type RunRecord =
  | { readonly type: "run"; readonly run: string; readonly input: JsonValue }
  | { readonly type: "started"; readonly step: string; readonly attempt: number }
  | { readonly type: "done"; readonly step: string; readonly value: JsonValue }
  | { readonly type: "failed"; readonly step: string; readonly failure: KeptFailure }
  | { readonly type: "sleeping"; readonly step: string; readonly until: number }
  | { readonly type: "ended"; readonly value: JsonValue }
  | { readonly type: "ended-badly"; readonly failure: KeptFailure };

/** What others have to say to a run; any process may add to it. */
type Note = { readonly type: "answer"; readonly name: string; readonly approval: Approval } | { readonly type: "cancel" };

export type StepState =
  | { readonly type: "new" }
  | { readonly type: "started"; readonly attempt: number }
  | { readonly type: "done"; readonly value: JsonValue }
  | { readonly type: "failed"; readonly failure: KeptFailure };

/** The journal of one run on disk: `NAME.jsonl` with one writer, and `NAME.notes.jsonl` beside it for everybody. */
export class RunFile {
  readonly #log: AppendLog<RunRecord>;
  readonly #notesPath: string;
  readonly #steps = new Map<string, StepState>();
  readonly #sleeps = new Map<string, number>();
  #end: Extract<RunRecord, { type: "ended" | "ended-badly" }> | undefined;
  #isBegun = false;
  #notes: { readonly size: number; readonly read: readonly Note[] } = { size: 0, read: [] };

  constructor(folder: string, runId: string) {
    const { log, records } = AppendLog.open<RunRecord>(join(folder, `${fileName(runId)}.jsonl`));
    this.#log = log;
    this.#notesPath = notesPath(folder, runId);
    for (const record of records) this.#apply(record);
  }

  get end(): Extract<RunRecord, { type: "ended" | "ended-badly" }> | undefined {
    return this.#end;
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  step(name: string): StepState {
    return this.#steps.get(name) ?? { type: "new" };
  }

  wakesAt(name: string): number | undefined {
    return this.#sleeps.get(name);
  }

  /** On disk when it returns; it survives a power cut when what it returns is awaited. */
  write(record: RunRecord): Promise<void> {
    this.#log.append(record);
    this.#apply(record);
    return this.#log.sync();
  }

  get isCancelled(): boolean {
    return this.#readNotes().some(({ type }) => type === "cancel");
  }

  answerTo(name: string): Approval | undefined {
    for (const note of this.#readNotes()) if (note.type === "answer" && note.name === name) return note.approval;
    return undefined;
  }

  close(): void {
    this.#log.close();
  }

  #readNotes(): readonly Note[] {
    const size = statSync(this.#notesPath, { throwIfNoEntry: false })?.size ?? 0;
    if (size !== this.#notes.size) this.#notes = { size, read: readLog<Note>(this.#notesPath) };
    return this.#notes.read;
  }

  #apply(record: RunRecord): void {
    switch (record.type) {
      case "run":
        this.#isBegun = true;
        return;
      case "started":
        this.#steps.set(record.step, { type: "started", attempt: record.attempt });
        return;
      case "done":
        this.#steps.set(record.step, { type: "done", value: record.value });
        return;
      case "failed":
        this.#steps.set(record.step, { type: "failed", failure: record.failure });
        return;
      case "sleeping":
        this.#sleeps.set(record.step, record.until);
        return;
      case "ended":
      case "ended-badly":
        this.#end = record;
    }
  }
}

export function tellRun(folder: string, runId: string, note: Note): void {
  makeFolder(folder, 0o777);
  appendFileSync(notesPath(folder, runId), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

function notesPath(folder: string, runId: string): string {
  return join(folder, `${fileName(runId)}.notes.jsonl`);
}

/** Ids may hold anything; names of files may not. */
function fileName(runId: string): string {
  const plain = encodeURIComponent(runId).replaceAll(".", "%2E");
  return plain.length <= 180 ? plain : `${plain.slice(0, 120)}-${createHash("sha256").update(runId).digest("hex").slice(0, 32)}`;
}
