import { readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type Cassette,
  createFileStore,
  createReplayProvider,
  parseCassette,
  type Places,
  type Provider,
  RuntimeError,
  toCassette,
  toRecording,
  withRecorder,
} from "@outrider/runtime";

export type Replay = Provider & { readonly remaining: number };

/** What differs from machine to machine in a recording. */
export function placesOf(cwd: string): Places {
  return { "{{cwd}}": cwd, "{{home}}": homedir() };
}

/** Answers from a file, or from a session of this user's by its id. */
export async function openReplay(
  source: string,
  facts: { home: string; places: Places; lenient: boolean; warn(line: string): void },
): Promise<Replay> {
  const { home, places, lenient, warn } = facts;
  return createReplayProvider(await loadCassette(source, home, places), { places, lenient, onDifference: warn });
}

/** The file is whole after every call: a run that is killed leaves what it had. */
export function recordTo(path: string, provider: Provider, places: Places): Provider {
  const calls: Cassette["calls"][number][] = [];
  return withRecorder(provider, {
    places,
    async add(call) {
      calls.push(call);
      const temporary = `${path}.tmp`;
      try {
        await writeFile(temporary, `${JSON.stringify(toCassette(provider.name, calls), null, 1)}\n`, { mode: 0o600 });
        await rename(temporary, path);
      } catch (error) {
        throw new RuntimeError(
          "storage-failed",
          `The recording ${path} cannot be written: ${error instanceof Error ? error.message : error}`,
        );
      }
    },
  });
}

async function loadCassette(source: string, home: string, places: Places): Promise<Cassette> {
  const text = await readFile(source, "utf8").catch(() => undefined);
  if (text !== undefined && !source.endsWith(".jsonl")) return parseCassette(parseJson(text, source));
  const events = text === undefined ? await createFileStore(join(home, "sessions")).read(source) : parseLines(text, source);
  if (events.length > 0) return toRecording(events, places);
  throw new RuntimeError("not-found", `There is no recording and no session ${JSON.stringify(source)}`);
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RuntimeError("config", `${source} is no recording: ${error instanceof Error ? error.message : error}`);
  }
}

function parseLines(text: string, source: string): Parameters<typeof toRecording>[0] {
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => parseJson(line, source)) as unknown as Parameters<typeof toRecording>[0]; // a journal holds our events alone
}
