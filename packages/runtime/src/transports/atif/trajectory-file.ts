import { accessSync, constants, existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { CatalogOverride } from "../../model/catalog-override.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { toSafeJson } from "../../util/jsonl.ts";
import type { OutputFormat } from "../headless/output-format.ts";
import type { AtifVersion } from "./atif.ts";
import { writeFileAtomically } from "./atomic-file.ts";
import { loadCallPrice } from "./call-price.ts";
import { finishDocument, type TrajectoryDocument, type TrajectoryOptions } from "./trajectory.ts";
import { TrajectoryBuilder } from "./trajectory-builder.ts";

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
  const path = resolve(options.path);
  checkPlace(path);
  const settings: TrajectoryOptions = {
    sessionId: options.sessionId,
    version: options.version,
    priceOf: await loadCallPrice(options.catalogOverride),
    copiedThrough: options.history?.at(-1)?.seq,
    stem: stemOf(path),
  };
  const builder = new TrajectoryBuilder(settings);
  for (const event of options.history ?? []) builder.apply(event);
  let failure: RuntimeError | undefined;
  const write = (): void => {
    try {
      const document = finishDocument(builder, settings);
      if (document) writeDocument(path, document);
      failure = undefined;
    } catch (error) {
      failure = cannotWrite(path, error); // later steps try again
    }
  };
  const judge = (outcome: Outcome): Outcome =>
    failure && outcome.type === "completed" ? { type: "failed", error: failure.toJSON(), text: outcome.text } : outcome;
  return {
    event(event) {
      if (builder.apply(event)) write();
      return format.event(event);
    },
    async end(outcome) {
      write();
      return await format.end(judge(outcome));
    },
    judge,
  };
}

/** A document and all it names; what is named by its content is not written twice. */
export function writeDocument(path: string, { trajectory, subagents, media }: TrajectoryDocument): void {
  const folder = dirname(path);
  for (const [name, data] of media)
    if (!existsSync(join(folder, name))) writeFileAtomically(join(folder, name), Buffer.from(data, "base64"));
  for (const [name, subagent] of subagents) writeFileAtomically(join(folder, name), `${toSafeJson(subagent)}\n`);
  writeFileAtomically(path, `${toSafeJson(trajectory)}\n`);
}

/** The part of a file's name that the names of files beside it begin with. */
export function stemOf(path: string): string {
  return basename(path).replace(/\.json$/, "");
}

function checkPlace(path: string): void {
  try {
    if (existsSync(path) && statSync(path).isDirectory()) throw new Error("it is a folder");
    const folder = firstFolder(dirname(path));
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is no folder`);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Folders on the way are made; the nearest one that is there has to let us. */
function firstFolder(folder: string): string {
  const parent = dirname(folder);
  return existsSync(folder) || parent === folder ? folder : firstFolder(parent);
}

function cannotWrite(path: string, error: unknown): RuntimeError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RuntimeError("storage-failed", `The trajectory ${path} cannot be written: ${reason}`, {
    hint: "Name a file in a folder that you may write to",
  });
}
