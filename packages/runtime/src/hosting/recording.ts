import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createFileStore } from "../journal/file-store.ts";
import { readJournalFile } from "../journal/mend.ts";
import type { Provider } from "../model/model.ts";
import { type Cassette, createReplayProvider, type Places, parseCassette, toCassette, withRecorder } from "../model/replay.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { toRecording } from "../session/past/recorded-calls.ts";
import { scrubEnvironment } from "../workspace/environment.ts";
import type { Surroundings } from "./surroundings.ts";
import { replaceFile } from "../util/replace-file.ts";

export type Replay = Provider & { readonly remaining: number };

/** What differs from machine to machine in a recording. A shell goes by the name it came by, which may lead through links. */
export function placesOf(cwd: string, { env, userHome: home }: Surroundings): Places {
  const shellName = env["PWD"];
  return {
    "{{cwd}}": shellName && realPath(shellName) === cwd ? [cwd, shellName] : cwd,
    "{{home}}": [home, realPath(home) ?? home],
  };
}

/** Answers from a file, or from a session of this user's by its id. */
export async function openReplay(
  { source, lenient }: { readonly source: string; readonly lenient: boolean },
  { around, places, warn }: { around: Surroundings; places: Places; warn(line: string): void },
): Promise<Replay> {
  return createReplayProvider(await loadCassette(source, around), { places, lenient, onDifference: warn });
}

/** The file is whole after every call: a run that is killed leaves what it had. Nothing is asked when it cannot be written. */
export function recordTo(
  path: string,
  provider: Provider,
  { places, env }: { readonly places: Places; readonly env: Surroundings["env"] },
): Provider {
  checkWritable(path);
  const calls: Parameters<typeof toCassette>[1][number][] = [];
  return withRecorder(provider, {
    places,
    secrets: secretsIn(env),
    async add(call) {
      calls.push(call);
      try {
        await replaceFile(path, `${JSON.stringify(toCassette(provider, calls), null, 1)}\n`);
      } catch (error) {
        throw cannotWrite(path, error);
      }
    },
  });
}

function checkWritable(path: string): void {
  try {
    accessSync(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw cannotWrite(path, "it is a folder");
}

function cannotWrite(path: string, error: unknown): RuntimeError {
  return new RuntimeError("storage-failed", `The recording ${path} cannot be written: ${reasonOf(error)}`);
}

/** What tools do not get to see must not get into a file that people share either. A plain word is no secret, and hiding it would spoil answers. */
function secretsIn(env: Surroundings["env"]): string[] {
  const harmless = scrubEnvironment(env);
  const isSecret = (name: string, value: string): boolean => !(name in harmless) && value.length >= 8 && /[^a-z]/i.test(value);
  return Object.entries(env).flatMap(([name, value]) => (value && isSecret(name, value) ? [value] : []));
}

async function loadCassette(source: string, around: Surroundings): Promise<Cassette> {
  const text = await readFile(source, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new RuntimeError("config", `The recording ${source} cannot be read: ${error.message}`);
  });
  const events = text === undefined ? await sessionEvents(source, around.outriderHome) : (await readJournalFile(source)).events;
  if (events.length > 0) return toRecording(events, (cwd) => placesOf(cwd, around));
  if (text === undefined) throw new RuntimeError("not-found", `There is no recording and no session ${JSON.stringify(source)}`);
  try {
    return parseCassette(JSON.parse(text));
  } catch (error) {
    const { hint } = error instanceof RuntimeError ? error : {};
    throw new RuntimeError("config", `${source} cannot be replayed: ${reasonOf(error)}`, hint ? { hint } : {});
  }
}

async function sessionEvents(id: string, home: string): Promise<readonly AgentEvent[]> {
  if (!/^[\w-]+$/.test(id)) return []; // no id; a file that is not there
  return await createFileStore(join(home, "sessions")).read(id);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
