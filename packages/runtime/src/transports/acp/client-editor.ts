import { RuntimeError } from "../../protocol/errors.ts";
import { isJsonObject } from "../../protocol/content.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import { isInside } from "../../util/is-inside.ts";
import { sleep } from "../../util/sleep.ts";
import type { AcpClient } from "./acp-host.ts";

type Editor = NonNullable<SessionOptions["editor"]>;
type Terminal = Awaited<ReturnType<NonNullable<Editor["openTerminal"]>>>;

/** What a client says it can do for the agent. */
export type EditorCapabilities = {
  readonly fs?: { readonly readTextFile?: boolean; readonly writeTextFile?: boolean } | null;
  readonly terminal?: boolean;
};

export type ClientEditorOptions = {
  readonly client: AcpClient;
  readonly sessionId: string;
  readonly can: EditorCapabilities;
  /** Real paths of the folders that the client has opened. */
  readonly folders: readonly string[];
  /** Names of variables that no program gets. */
  readonly withheld: readonly string[];
  /** A call's program runs in this terminal. */
  readonly onTerminal: (callId: string, terminalId: string) => void;
};

/** An editor shows a file at once, or something is wrong with it. */
const answerMs = 10_000;
/** What a terminal keeps for us; longer output is cut at its beginning. */
const outputByteLimit = 1024 * 1024;

/** The files and terminals of a client; undefined where it offers none. */
export function clientEditor({ client, sessionId, can, folders, withheld, onTerminal }: ClientEditorOptions): Editor | undefined {
  const { readTextFile, writeTextFile } = can.fs ?? {};
  const { request } = client;
  if (!request || !(readTextFile || writeTextFile || can.terminal)) return undefined;
  const ask = (method: string, params: object): Promise<unknown> => request(method, { sessionId, ...params });
  return {
    withheld,
    covers: (path) => folders.some((folder) => isInside(folder, path)),
    ...(readTextFile && { readText: async (path) => textIn(await inTime(ask("fs/read_text_file", { path })), "content") }),
    ...(writeTextFile && {
      writeText: async (path, content) => void (await inTime(ask("fs/write_text_file", { path, content }))),
    }),
    ...(can.terminal && {
      async openTerminal({ callId, file, args, cwd, env }) {
        const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
        const created = await inTime(ask("terminal/create", { command: file, args, cwd, env: variables, outputByteLimit }));
        const terminalId = textIn(created, "terminalId");
        onTerminal(callId, terminalId);
        return terminal((method) => ask(method, { terminalId }));
      },
    }),
  };
}

function terminal(ask: (method: string) => Promise<unknown>): Terminal {
  return {
    ended: ask("terminal/wait_for_exit").then((answer) => {
      const { exitCode, signal } = isJsonObject(answer) ? answer : {};
      return typeof signal === "string" ? { end: "signal", signal } : { end: "exit", exitCode: Number(exitCode ?? 1) };
    }),
    async output() {
      const answer = await ask("terminal/output");
      return { text: textIn(answer, "output"), isCut: isJsonObject(answer) && answer["truncated"] === true };
    },
    kill: async () => void (await ask("terminal/kill")),
    release: async () => void (await ask("terminal/release")),
  };
}

function textIn(answer: unknown, name: string): string {
  const value = isJsonObject(answer) ? answer[name] : undefined;
  if (typeof value === "string") return value;
  throw new RuntimeError("usage", `The client's answer has no text ${name}`);
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = sleep(answerMs, late.signal).then((): never => {
    throw new RuntimeError("busy", `The client has not answered within ${answerMs / 1000} s: nobody knows whether it was done`);
  });
  timeout.catch(() => {}); // not late
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    late.abort();
  }
}
