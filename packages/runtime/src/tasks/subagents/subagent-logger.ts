import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { oneAtATime } from "../../util/one-at-a-time.ts";

export interface SubagentLogger {
  readonly path: string;
  /** One line per entry, in order. Never rejects: the session's journal is what counts. */
  write(entry: object): void;
  /** Settles when all of it is on disk. */
  close(): Promise<void>;
}

const ephemeral = /\.(?:delta|progress)$|^context\.updated$/;

/** The transcript of one agent, in a file of its own: `BASE/SESSION/subagents/AGENT.jsonl`. Pieces of messages are left out, the messages are there. */
export function createSubagentLogger(parentSessionId: string, agentId: string, baseLogsDir: string): SubagentLogger {
  const path = join(baseLogsDir, parentSessionId, "subagents", `${agentId}.jsonl`);
  const inOrder = oneAtATime();
  let file: FileHandle | undefined;
  let lines = "";
  const put = async (): Promise<void> => {
    if (lines === "") return;
    const batch = lines;
    lines = "";
    if (!file) {
      makeFolder(dirname(path));
      file = await open(path, "a", 0o600);
    }
    await file.appendFile(batch);
  };
  return {
    path,
    write(entry) {
      if ("type" in entry && ephemeral.test(String(entry.type))) return;
      lines += `${JSON.stringify(entry)}\n`;
      void inOrder(put).catch(() => {});
    },
    async close() {
      await inOrder(async () => {
        await put();
        await file?.close();
        file = undefined;
      }).catch(() => {});
    },
  };
}
