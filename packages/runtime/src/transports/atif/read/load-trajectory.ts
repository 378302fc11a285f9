import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import type { SessionStore } from "../../../journal/store.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import { createRedactor } from "../../../util/redact.ts";
import { fromTrajectory, type ImportedTrajectory } from "./from-trajectory.ts";

/** Pictures that are larger go to no model. */
const maxImageBytes = 5 * 1024 * 1024;

/** A trajectory from a file, with the pictures beside it. */
export function loadTrajectory(path: string, options: { sessionId: string }): ImportedTrajectory {
  const folder = dirname(resolve(path));
  return fromTrajectory(readTrajectoryJson(path), {
    ...options,
    loadImage: (name) => (name.includes("://") ? undefined : readImage(folder, name)),
  });
}

/** Throws `no-input` when there is no such file and `config` when it holds no JSON. */
export function readTrajectoryJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new RuntimeError("no-input", `The trajectory ${path} cannot be read: ${reasonOf(error)}`);
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new RuntimeError("config", `${path} is no JSON: ${reasonOf(error)}`);
  }
}

/** Stores the history as a session of its own, to be resumed under its id. Refused when that exists. */
export async function seedSession(store: SessionStore, sessionId: string, { events }: ImportedTrajectory): Promise<void> {
  const journal = await store.open(sessionId);
  try {
    if (journal.events.length > 0) throw new RuntimeError("usage", `Session ${sessionId} exists already`);
    await journal.append(createRedactor({ env: process.env }).value(events)); // nothing is stored with its secrets
  } finally {
    await journal.close();
  }
}

/** Only what lies beside the trajectory or below: a document from elsewhere must not say which files of this machine a model gets to see. */
function readImage(folder: string, name: string): string | undefined {
  try {
    const path = realpathSync(resolve(folder, name));
    const { size } = statSync(path);
    if (!path.startsWith(realpathSync(folder) + sep) || size > maxImageBytes) return undefined;
    return readFileSync(path, "base64");
  } catch {
    return undefined; // named in the text instead, with a warning
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
