import type { ChildProcess, IOType } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { RuntimeError } from "../protocol/errors.ts";
import { forwardOutput, outputLateMs } from "./process-output.ts";
import { endProcesses, findProcesses, isAlive, type ProcessList } from "./process-sweep.ts";
import type { ProcessEnd, RunningProcess, StartCommand } from "./workspace.ts";
import { messageOf } from "../util/message-of.ts";

export type ProcessSetting = {
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Stands in `env`, and in no other program's environment: what the program leaves anywhere is found by it. */
  readonly mark: string;
  readonly cwd: string;
  /** An open file that the program and all it starts inherit, under the number `to`. */
  readonly token?: { readonly from: number; readonly to: number } | undefined;
};

/** What only programs of this machine can be asked to be. */
export type LocalCommand = StartCommand & {
  /** The program waits for orders: on its standard input, and then what is written for it to read comes in under the number 3, or there. */
  readonly takesOrders?: "on-input" | "on-3" | undefined;
  /** The program holds everything it starts: its own end would be theirs, without warning, so they are asked to end first. */
  readonly holdsOthers?: boolean | undefined;
  /** A file that it finds open under the number `fourthDescriptor`. */
  readonly reads?: string | undefined;
};

export interface LocalProcess extends RunningProcess {
  readonly pid: number;
  /** What it had left in the background when it ended. */
  left(): ProcessList;
  /** To a program that takes them; `last` ends them. */
  order(text: string, options?: { last?: boolean }): void;
  /** Whether our own process stays for it. */
  hold(isHeld: boolean): void;
  /** At once and unasked. What it holds goes with it. */
  killNow(): void;
}

/** Where a program that takes orders on its input finds what it is to read, and another one its orders. */
export const thirdDescriptor = 3;
export const fourthDescriptor = 4;

/** Starts one program; what it leaves in the background when it ends is neither waited for nor ended, even if it holds the output pipes. */
export async function startProcess(command: LocalCommand, setting: ProcessSetting): Promise<LocalProcess> {
  const child = spawnChild(command, setting);
  const exited = new Promise<ProcessEnd>((resolve, reject) => {
    child.once("error", (error) => reject(startFailure({ error, command, cwd: setting.cwd })));
    child.once("exit", (code, signal) => resolve(signal ? { end: "signal", signal } : { end: "exit", exitCode: code ?? 0 }));
  });
  const { pid } = child;
  if (pid === undefined) {
    await exited; // which rejects
    throw new RuntimeError("internal", `"${command.file}" has no process id.`);
  }
  const { mark } = setting;
  let hasExited = false;
  let left: ProcessList = new Map();
  let request = (): void => {};
  const killed = new Promise<ProcessEnd>((resolve) => {
    request = () => resolve({ end: "aborted" });
  });
  // The number of its group may be somebody else's once it has ended.
  const group = (): number | undefined => (hasExited ? undefined : pid);
  let sweep: Promise<void> | undefined;
  const kill = async (): Promise<void> => {
    request();
    sweep ??= endProcesses({ mark, group: group(), groupLast: command.holdsOthers ?? false, known: left });
    await sweep;
    sweep = undefined;
    // A process that not even SIGKILL ends (it waits for a dead disk) must not hold us.
    await Promise.race([exited, pause(outputLateMs, undefined, { ref: false })]);
  };
  const output = forwardOutput(child, command.onOutput, () => void kill());
  const lookBehind = (): void => {
    hasExited = true;
    if (isAlive(-pid)) left = findProcesses({ mark, group: pid });
  };
  exited.then(lookBehind, lookBehind);
  const [orders, input] = inputsOf(child, command);
  for (const stream of [orders, input]) stream?.on("error", () => {}); // a program need not read its input

  const end = async (): Promise<ProcessEnd> => {
    const result = await Promise.race([exited, killed]);
    if (result.end === "aborted") await kill();
    for (const stream of [orders, input]) stream?.destroy();
    await output.drained();
    return result;
  };
  const ended = end();
  ended.catch(() => {}); // for whoever asks
  command.signal?.addEventListener("abort", kill, { once: true });
  if (command.signal?.aborted) void kill();
  void ended.finally(() => command.signal?.removeEventListener("abort", kill)).catch(() => {});

  return {
    pid,
    ended,
    kill,
    left: () => left,
    write: (data) => writeTo(input, data),
    endInput: () => void input?.end(),
    order: (text, { last = false } = {}) => void (last ? orders?.end(text) : orders?.write(text)),
    killNow() {
      orders?.destroy();
      child.kill("SIGKILL");
    },
    hold(isHeld) {
      // Of Bun's pipes, one that is written to holds nothing and cannot be held.
      const handles = [child, ...child.stdio] as readonly (Partial<Pick<Socket, "ref" | "unref">> | null | undefined)[];
      for (const handle of handles) isHeld ? handle?.ref?.() : handle?.unref?.();
    },
  };
}

function spawnChild(command: LocalCommand, setting: ProcessSetting): ChildProcess {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { takesInput, takesOrders, holdsOthers, reads } = command;
  const output = command.onOutput ? "pipe" : "ignore";
  const stdio: (IOType | number)[] = [takesInput || takesOrders === "on-input" ? "pipe" : "ignore", output, output];
  const { token } = setting;
  if (takesOrders === "on-3" || (takesOrders && takesInput)) stdio[thirdDescriptor] = "pipe";
  const hand = (from: number, to: number): void => {
    while (stdio.length < to) stdio.push("ignore"); // which opens nothing
    stdio.push(from);
  };
  let opened: number | undefined;
  try {
    if (reads !== undefined) {
      opened = openSync(reads, "r");
      hand(opened, fourthDescriptor);
    }
    if (token && !holdsOthers) hand(token.from, token.to);
    return spawn(command.file, [...command.args], {
      cwd: setting.cwd,
      env: { ...setting.env },
      detached: true,
      stdio,
    });
  } catch (error) {
    throw startFailure({ error, command, cwd: setting.cwd });
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** For its orders, and for what it is to read. */
function inputsOf(child: ChildProcess, { takesOrders }: LocalCommand): readonly (Writable | null)[] {
  if (!takesOrders) return [null, child.stdin];
  const third = (child.stdio[thirdDescriptor] ?? null) as Writable | null; // what "pipe" makes below the outputs is written to
  return takesOrders === "on-input" ? [child.stdin, third] : [third, child.stdin];
}

async function writeTo(input: Writable | null | undefined, data: string | Uint8Array): Promise<boolean> {
  if (!input?.writable) return false;
  return await new Promise((resolve) => input.write(data, (error) => resolve(!error)));
}

function startFailure(facts: { error: unknown; command: LocalCommand; cwd: string }): RuntimeError {
  const { error, command, cwd } = facts;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" && !existsSync(cwd))
    return new RuntimeError("usage", `The directory ${cwd} does not exist.`, { cause: error });
  if (code === "ENOENT")
    return new RuntimeError("not-found", `There is no program "${command.file}" on this machine.`, { cause: error });
  const reason = code === "E2BIG" ? "its arguments are too long" : messageOf(error);
  return new RuntimeError("usage", `"${command.file}" could not be started: ${reason}.`, { cause: error });
}
