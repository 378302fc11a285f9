import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentEvent } from "../../protocol/events.ts";
import { toLine } from "../../util/jsonl.ts";
import { SessionEntries, type SessionEntry } from "./session-entries.ts";

export type SessionFileOptions = {
  /** `$CLAUDE_CONFIG_DIR`, or `~/.claude`. */
  readonly configDirectory: string;
  readonly sessionId: string;
  readonly cwd: string;
  /** Who started the run, as the lines tell it. */
  readonly entrypoint: string;
  /** What the session's journal holds already; what of it is not in the file yet is added. */
  readonly history: readonly AgentEvent[];
  /** Told once, when the file cannot be written: the session itself goes on. */
  readonly warn: (message: string) => void;
};

/** A copy of a session where other programs look for sessions of Claude Code. It is only ever added to, by whole lines. */
export interface SessionFile {
  readonly path: string;
  add(event: AgentEvent): void;
}

export function openSessionFile(options: SessionFileOptions): SessionFile {
  const { sessionId, entrypoint, history, warn } = options;
  const path = sessionFilePath(options);
  const entries = new SessionEntries({ sessionId, entrypoint });
  const files = new Map<string, { has(entry: SessionEntry): boolean }>();
  let broken = false;

  const write = (lines: readonly SessionEntry[]): void => {
    for (const entry of broken ? [] : lines) {
      try {
        const file = fileOf(path, entry.agentId);
        const known = files.get(file) ?? openFile(file);
        files.set(file, known);
        if (!known.has(entry)) appendFileSync(file, toLine(entry.line), { mode: 0o600 });
      } catch (error) {
        broken = true;
        return warn(
          `The copy of the session in ${path} is not written: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
  };

  for (const event of history) write(entries.of(event));
  return { path, add: (event) => write(entries.of(event)) };
}

/** Folders are named after the working directory; long names are cut, and told apart by a checksum. */
export function sessionFilePath(place: Pick<SessionFileOptions, "configDirectory" | "cwd" | "sessionId">): string {
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

function fileOf(path: string, agentId: string | undefined): string {
  return agentId === undefined ? path : join(path.replace(/\.jsonl$/, ""), "subagents", `agent-${agentId}.jsonl`);
}

/** What is in the file already. A line that was cut off by a crash is closed, so that it spoils no other. */
function openFile(file: string): { has(entry: SessionEntry): boolean } {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const text = readIfThere(file);
  if (text !== "" && !text.endsWith("\n")) appendFileSync(file, "\n");
  const uuids = new Set(Array.from(text.matchAll(/"uuid":"([^"]+)"/g), ([, uuid]) => uuid));
  return {
    has({ uuid, line }) {
      const written = uuid === undefined ? text.includes(JSON.stringify(line)) : uuids.has(uuid);
      if (uuid !== undefined) uuids.add(uuid);
      return written;
    },
  };
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
