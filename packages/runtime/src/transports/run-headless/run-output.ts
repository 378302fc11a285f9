import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { emitEvent as printEvent } from "../atif/lines/emit-event.ts";
import { toLineCode } from "../atif/lines/line-codes.ts";
import { StepCollector } from "../atif/lines/step-collector.ts";
import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import type { HeadlessConfig } from "./headless-config.ts";
import { defined } from "../../util/defined.ts";

export type Stop = Exclude<Outcome, { type: "completed" }>;

/** Where the lines of a run go: into the trajectory file, then to the caller. */
export class RunOutput {
  readonly #config: Pick<HeadlessConfig, "atifOutputPath" | "emitEvent">;
  readonly #collector = new StepCollector();
  #failure: RuntimeError | undefined;

  constructor(config: Pick<HeadlessConfig, "atifOutputPath" | "emitEvent">) {
    this.#config = config;
  }

  /** Why the trajectory is not on disk as it should be. */
  get failure(): RuntimeError | undefined {
    return this.#failure;
  }

  /** The file is written first: the reader of a line may end the process. */
  emit(event: TrajectoryEvent): void {
    const { atifOutputPath, emitEvent = printEvent } = this.#config;
    this.#collector.add(event);
    if (atifOutputPath !== undefined && event.type !== "turn-start") this.#write(atifOutputPath);
    emitEvent(event);
  }

  error(error: string, code?: string): void {
    this.emit({ type: "error", timestamp: now(), error, ...defined({ code }) });
  }

  /** `code` takes the place of the error's own. */
  fail(thrown: unknown, { text, code }: { readonly text: string; readonly code?: string | undefined }): Stop {
    const error = toRuntimeError(thrown);
    this.error(error.message, code ?? (error.code === "internal" ? undefined : toLineCode(error.code)));
    return { type: "failed", error: error.toJSON(), text };
  }

  #write(path: string): void {
    try {
      this.#collector.write(path);
      this.#failure = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#failure = new RuntimeError("storage-failed", `The trajectory ${path} cannot be written: ${why}`);
    }
  }
}

export function now(): string {
  return new Date().toISOString();
}
