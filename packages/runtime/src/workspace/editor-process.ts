import { setTimeout as pause } from "node:timers/promises";
import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";
import type { Editor, EditorTerminal } from "./editor.ts";

import { endProcesses } from "./process-sweep.ts";
import type { Marked } from "./with-editor.ts";
import type { ProcessEnd, RunningProcess, StartCommand } from "./workspace.ts";

const pollMs = 500;
/** How long a terminal is waited for that does not say how its program ended, once it was told to end it. */
const killMs = 2_000;

type ShownCommand = StartCommand & {
  readonly callId: string;
  readonly cwd: string;
  readonly withheld: readonly string[];
  /** It gets the variables it is given and no others: such as hold no secret, and may stand on a command line. */
  readonly isWhole: boolean;
};

/** A program in a terminal of the editor; undefined where that opens none. What the program leaves behind is ended with it, by its mark. */
export async function startInEditor(
  editor: Editor,
  { file, args, callId, cwd, withheld, isWhole, onOutput, onPlace, signal }: ShownCommand,
  { env, mark }: Marked,
): Promise<RunningProcess | undefined> {
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const variables = isWhole ? ["-i", ...given] : editor.withheld.flatMap((name) => ["-u", name]);
  const program = { callId, file: "env", args: [...variables, file, ...args], cwd, env };
  const terminal = await editor.openTerminal?.(program).catch(() => undefined);
  if (!terminal) return undefined;
  onPlace?.({ place: "outside", network: "open", withheld });
  const stop = new AbortController();
  let request = (): void => {};
  const killed = new Promise<ProcessEnd>((resolve) => {
    request = () => resolve({ end: "aborted" });
  });
  const kill = async (): Promise<void> => {
    request();
    await Promise.allSettled([atMost(terminal.kill()), endProcesses({ mark })]);
  };
  const output = follow(terminal, { onOutput, signal: stop.signal });
  const end = async (): Promise<ProcessEnd> => {
    const result = await Promise.race([terminal.ended, killed]).catch(async (error: unknown) => {
      stop.abort();
      await kill();
      throw new RuntimeError("usage", `The editor does not say how the command ended: ${messageOf(error)}`, { cause: error });
    });
    if (result.end === "aborted") await atMost(terminal.ended);
    stop.abort();
    await output.catch(async (error: unknown) => {
      await kill();
      throw error;
    });
    return result;
  };
  const ended = end().finally(() => atMost(terminal.release()));
  const onAbort = (): void => void kill();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const forget = (): void => signal?.removeEventListener("abort", onAbort);
  ended.then(forget, forget);
  return { pid: undefined, ended, write: async () => false, endInput: () => {}, kill };
}

/** Tells what is new in the terminal until the signal, and the rest then. */
async function follow(
  terminal: EditorTerminal,
  { onOutput, signal }: { onOutput: StartCommand["onOutput"]; signal: AbortSignal },
): Promise<void> {
  let told = "";
  while (true) {
    const isLast = signal.aborted;
    const now = await terminal.output().catch(() => undefined);
    const text = now?.text.replaceAll("\r\n", "\n") ?? "";
    const fresh = text.startsWith(told)
      ? text.slice(told.length)
      : isLast
        ? `\n[The terminal has kept only the end.]\n${text}`
        : "";
    if (fresh !== "") {
      told = text;
      await onOutput?.({ stream: "stdout", bytes: Buffer.from(fresh) });
    }
    if (isLast) return;
    await pause(pollMs, undefined, { signal }).catch(() => {}); // told to make an end of it
  }
}

async function atMost(work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(killMs, undefined, { ref: false })]).catch(() => {});
}
