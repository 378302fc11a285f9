import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  type AgentEvent,
  type Cassette,
  createFileStore,
  createReplayProvider,
  type Places,
  parseCassette,
  type Provider,
  RuntimeError,
  toCassette,
  withRecorder,
} from "@outrider/runtime";
import { scrubEnvironment } from "@outrider/runtime/host";
import { readJournalFile, toRecording } from "@outrider/runtime/admin";

export type Replay = Provider & { readonly remaining: number };

/** What differs from machine to machine in a recording. A shell goes by the name it came by, which may lead through links. */
export function placesOf(cwd: string): Places {
  const shellName = process.env["PWD"];
  const home = homedir();
  return {
    "{{cwd}}": shellName && realPath(shellName) === cwd ? [cwd, shellName] : cwd,
    "{{home}}": [home, realPath(home) ?? home],
  };
}

/** Answers from a file, or from a session of this user's by its id. */
export async function openReplay(
  source: string,
  facts: { home: string; places: Places; lenient: boolean; warn(line: string): void },
): Promise<Replay> {
  const { home, places, lenient, warn } = facts;
  return createReplayProvider(await loadCassette(source, home), { places, lenient, onDifference: warn });
}

/** The file is whole after every call: a run that is killed leaves what it had. Nothing is asked when it cannot be written. */
export function recordTo(path: string, provider: Provider, places: Places): Provider {
  checkWritable(path);
  const calls: Parameters<typeof toCassette>[1][number][] = [];
  return withRecorder(provider, {
    places,
    secrets: secretsIn(process.env),
    async add(call) {
      calls.push(call);
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        await writeFile(temporary, `${JSON.stringify(toCassette(provider, calls), null, 1)}\n`, { mode: 0o600 });
        await rename(temporary, path);
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
function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  const harmless = scrubEnvironment(env);
  const isSecret = (name: string, value: string): boolean => !(name in harmless) && value.length >= 8 && /[^a-z]/i.test(value);
  return Object.entries(env).flatMap(([name, value]) => (value && isSecret(name, value) ? [value] : []));
}

async function loadCassette(source: string, home: string): Promise<Cassette> {
  const text = await readFile(source, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new RuntimeError("config", `The recording ${source} cannot be read: ${error.message}`);
  });
  const events = text === undefined ? await sessionEvents(source, home) : (await readJournalFile(source)).events;
  if (events.length > 0) return toRecording(events, placesOf);
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
