import { existsSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { CatalogOverride } from "../../../model/catalog-override.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import type { AgentEvent } from "../../../protocol/events.ts";
import type { Outcome } from "../../../protocol/outcome.ts";
import type { OutputFormat } from "../../headless/output-format.ts";
import type { AtifVersion } from "../atif.ts";
import { makeFolder } from "../../../util/make-folder.ts";
import { writeSharedFile } from "./shared-file.ts";
import { loadCallPrice } from "./call-price.ts";
import { finishDocument, type TrajectoryDocument, type TrajectoryOptions } from "./trajectory.ts";
import { TrajectoryBuilder } from "./trajectory-builder.ts";
import { TrajectoryTexts } from "./trajectory-texts.ts";

export type TrajectoryFileOptions = {
  readonly path: string;
  /** The one the events belong to when absent. */
  readonly sessionId?: string | undefined;
  /** 1.7 when absent, and 1.8 instead where there is audio. */
  readonly version?: AtifVersion | undefined;
  readonly catalogOverride?: CatalogOverride | undefined;
  /** What the session held before this run: told as copied context. */
  readonly history?: readonly AgentEvent[] | undefined;
};

/** An output that is also written down as a trajectory. */
export interface WatchedFormat extends OutputFormat {
  /** A run that cannot be written down as it was asked for did not succeed. */
  judge(outcome: Outcome): Outcome;
}

/**
 * The same output, and beside it a trajectory on disk that is whole and valid at every moment of the run, however that ends: each step that
 * passes is in the file before the next event is looked at. Rejects, before anything is asked of a model, when the file cannot be written.
 */
export async function watchTrajectory(format: OutputFormat, options: TrajectoryFileOptions): Promise<WatchedFormat> {
  const path = openPlace(options.path);
  const settings: TrajectoryOptions = {
    sessionId: options.sessionId,
    version: options.version,
    priceOf: await loadCallPrice(options.catalogOverride),
    copiedThrough: options.history?.at(-1)?.seq,
    stem: stemOf(path),
  };
  const builder = new TrajectoryBuilder(settings);
  for (const event of options.history ?? []) builder.apply(event);
  const texts = new TrajectoryTexts(builder.settled);
  let failure: RuntimeError | undefined;
  const write = (isLasting: boolean): void => {
    try {
      const document = finishDocument(builder, settings);
      if (document) writeDocument(path, document, { texts, isLasting });
      failure = undefined;
    } catch (error) {
      failure = cannotWrite(path, error); // later steps try again
    }
  };
  const judge = <O extends Outcome>(outcome: O): O =>
    failure && outcome.type === "completed" ? ({ type: "failed", error: failure.toJSON(), text: outcome.text } as O) : outcome; // masked if that was: the failure names a file
  const close = format.close?.bind(format);
  return {
    event(event) {
      if (builder.apply(event)) write(event.type === "turn.ended");
      return format.event(event);
    },
    async end(outcome) {
      write(true);
      return await format.end(judge(outcome));
    },
    ...(close && { close: async (outcome) => await close(judge(outcome)) }),
    judge,
  };
}

/** A document and all it names. What is named by its content is not written twice, nor a subagent's file that is the same as before. */
export function writeDocument(
  path: string,
  { trajectory, subagents, media }: TrajectoryDocument,
  { texts = new TrajectoryTexts(), isLasting = true }: { texts?: TrajectoryTexts; isLasting?: boolean } = {},
): void {
  const folder = dirname(path);
  for (const [name, data] of media)
    if (!existsSync(join(folder, name))) writeSharedFile(join(folder, name), Buffer.from(data, "base64"));
  for (const [name, subagent] of subagents)
    if (texts.isNew(name, subagent)) writeSharedFile(join(folder, name), `${texts.of(subagent)}\n`, { isLasting });
  writeSharedFile(path, `${texts.of(trajectory)}\n`, { isLasting });
}

/** The part of a file's name that the names of files beside it begin with. */
export function stemOf(path: string): string {
  return basename(path).replace(/\.json$/, "");
}

/** The path the file will have, once it is sure that it can be written: folders are made, and a file is tried out. */
function openPlace(wanted: string): string {
  const path = resolve(wanted);
  try {
    if (wanted === "-") throw new Error("it is written again and again, which needs a file, not a stream");
    const target = existsSync(path) ? realpathSync(path) : path; // a link stays one
    if (existsSync(target) && statSync(target).isDirectory()) throw new Error("it is a folder");
    if (/^\/(?:dev(?!\/shm)|proc)\//.test(path) || (existsSync(target) && !statSync(target).isFile()))
      throw new Error("it is no ordinary file");
    makeFolder(dirname(target), 0o777);
    const trial = `${target}.${process.pid}.trial`;
    writeSharedFile(trial, "");
    rmSync(trial, { force: true });
    return target;
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function cannotWrite(path: string, error: unknown): RuntimeError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RuntimeError("storage-failed", `The trajectory ${path} cannot be written: ${reason}`, {
    hint: "Name a file in a folder that you may write to",
  });
}
