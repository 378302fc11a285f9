import { appendFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { toLine } from "../../util/jsonl.ts";
import { gitBranchOf } from "./git-branch.ts";
import { SessionEntries, type SessionEntry } from "./session-entries.ts";

export type SessionFileOptions = {
  /** `sessionFilePath`, or wherever the session has one already. */
  readonly path: string;
  readonly sessionId: string;
  /** Who started the run, as the lines tell it. */
  readonly entrypoint: string;
  /** What the session's journal holds already; what of it is not in the file yet is added. */
  readonly history: readonly AgentEvent[];
  /** Hears of lines once they are written, with the file they are in. */
  readonly onWritten?: ((path: string, lines: JsonObject[]) => void) | undefined;
  /** Told once, when the file cannot be written: the session itself goes on. */
  readonly warn: (message: string) => void;
};

/** A copy of a session where other programs look for sessions of Claude Code. It is only ever added to, by whole lines. */
export interface SessionFile {
  readonly path: string;
  add(event: AgentEvent): void;
}

export function openSessionFile(options: SessionFileOptions): SessionFile {
  const { path, sessionId, entrypoint, history, onWritten, warn } = options;
  const entries = new SessionEntries({ sessionId, entrypoint, gitBranch: gitBranchOf });
  const files = new Map<string, LineFile>();
  let broken = false;
  let isLive = false;

  const fileOf = (agentId: string | undefined): LineFile => {
    const place = agentId === undefined ? path : join(path.replace(/\.jsonl$/, ""), "subagents", `agent-${agentId}.jsonl`);
    const file = files.get(place) ?? new LineFile(place, (line) => onWritten?.(place, [line]));
    files.set(place, file);
    return file;
  };
  const add = (event: AgentEvent): void => {
    if (broken) return;
    try {
      for (const entry of entries.of(event)) fileOf(entry.agentId).add(entry);
      if (event.type === "turn.ended") fileOf(undefined).remind();
      if (event.type === "session.started" && isLive) entries.forgetTrail();
    } catch (error) {
      broken = true;
      warn(`The copy of the session in ${path} is not written: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  for (const event of history) add(event);
  isLive = true;
  return { path, add };
}

/** Folders are named after the working directory; long names are cut, and told apart by a checksum. */
export function sessionFilePath(place: { configDirectory: string; cwd: string; sessionId: string }): string {
  const { configDirectory, cwd, sessionId } = place;
  const folder = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  const name = folder.length <= longestName ? folder : `${folder.slice(0, longestName)}-${checksum(cwd)}`;
  return join(configDirectory, "projects", name, `${sessionId}.jsonl`);
}

const longestName = 200;

function checksum(text: string): string {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return Math.abs(hash).toString(36);
}

/** Programs that list sessions look for title and tag near the end only. */
const reminderDistance = 32 * 1024;

/** One file of whole lines. */
class LineFile {
  readonly #path: string;
  readonly #written: (line: JsonObject) => void;
  readonly #uuids: Set<string | undefined>;
  /** What was there before. */
  readonly #text: string;
  /** The last title and the last tag, ours or those of another program. */
  readonly #notes = new Map<unknown, JsonObject>();
  #sinceNotes = 0;

  constructor(path: string, written: (line: JsonObject) => void) {
    this.#path = path;
    this.#written = written;
    makeFolder(dirname(path));
    this.#text = readIfThere(path);
    if (this.#text !== "" && !this.#text.endsWith("\n")) appendFileSync(path, "\n"); // a line that a crash cut off must spoil no other
    this.#uuids = new Set(Array.from(this.#text.matchAll(/"uuid":"([^"]+)"/g), ([, uuid]) => uuid));
    for (const line of this.#text.split("\n")) this.#look(line);
  }

  add({ uuid, line }: SessionEntry): void {
    const isThere = uuid === undefined ? this.#text.includes(JSON.stringify(line)) : this.#uuids.has(uuid);
    if (isThere) return;
    if (uuid !== undefined) this.#uuids.add(uuid);
    this.#append(line);
  }

  /** Says again what the session is called, once that lies far behind. */
  remind(): void {
    if (this.#sinceNotes < reminderDistance) return;
    for (const note of [...this.#notes.values()]) this.#append(note);
    this.#sinceNotes = 0;
  }

  #append(line: JsonObject): void {
    const text = toLine(line);
    appendFileSync(this.#path, text, { mode: 0o600 });
    this.#look(text);
    this.#written(line);
  }

  #look(text: string): void {
    this.#sinceNotes += text.length;
    if (!/^\{"type":"(custom-title|tag)"/.test(text)) return;
    try {
      const note = JSON.parse(text) as JsonObject; // it begins like an object
      this.#notes.set(note["type"], note);
      this.#sinceNotes = 0;
    } catch {
      // a line that a crash cut off
    }
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
