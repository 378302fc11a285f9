import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type AgentEvent, isEphemeral, type Outcome, RuntimeError } from "@outrider/runtime";
import { loadCallPrice, toTrajectoryDocument } from "@outrider/runtime/atif";
import { type OutputFormat, replaceFileSync } from "@outrider/runtime/host";
import { RunReducer } from "@outrider/web";
import { toReportHtml } from "./report-html.ts";

export type ReportFileOptions = {
  readonly path: string;
  readonly catalogOverride?: Parameters<typeof loadCallPrice>[0];
  /** What the session held before this run. */
  readonly history?: readonly AgentEvent[] | undefined;
};

/**
 * The same output, and beside it the run as a page, written when a prompt ends, however that was. Rejects, before anything is asked of a model,
 * when it could not be written.
 */
export async function watchReport(format: OutputFormat, options: ReportFileOptions): Promise<OutputFormat> {
  const path = resolve(options.path);
  checkPlace(path);
  const priceOf = await loadCallPrice(options.catalogOverride);
  const reducer = new RunReducer({ priceOf });
  const stored = [...(options.history ?? [])];
  for (const event of stored) reducer.push(event);
  let failure: RuntimeError | undefined;
  const write = (): void => {
    try {
      const document = toTrajectoryDocument(stored, { priceOf });
      const trajectory = document && JSON.stringify(document.trajectory, null, 2);
      replaceFileSync(path, toReportHtml(reducer.model(), { trajectory }), { mode: 0o644 & ~process.umask() });
      failure = undefined;
    } catch (error) {
      failure = cannotWrite(path, error);
    }
  };
  // Whoever asked for a page and got none is told: the run did not do all it was asked for.
  const judge = <O extends Outcome>(outcome: O): O =>
    failure && outcome.type === "completed"
      ? ({ type: "failed", error: failure.toJSON(), text: outcome.text } as O)
      : ((format.judge?.(outcome) as O | undefined) ?? outcome);
  const close = format.close?.bind(format);
  return {
    event(event) {
      reducer.push(event);
      if (!isEphemeral(event.type)) stored.push(event);
      return format.event(event);
    },
    async end(outcome) {
      write();
      return await format.end(judge(outcome));
    },
    ...(close && { close: async (outcome) => await close(judge(outcome)) }),
    judge,
  };
}

function checkPlace(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): RuntimeError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RuntimeError("storage-failed", `The report ${path} cannot be written: ${reason}`, {
    hint: "Choose another --report",
  });
}
