import type { ChildProcess, IOType } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { RuntimeError } from "../protocol/errors.ts";
import { endProcesses } from "./process-sweep.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import type { RunCommand, RunResult, StartedProgram } from "./workspace.ts";

export type ProcessSetting = {
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Stands in `env`, and in no other program's environment: what the program leaves anywhere is found by it. */
  readonly mark: string;
  readonly cwd: string;
  /** Ends the program like the command's own signal. */
  readonly closing: AbortSignal;
  /** An open file that the program and all it starts inherit, under the number `to`. */
  readonly token?: { readonly from: number; readonly to: number } | undefined;
};

const quietMs = 50;
const drainMs = 250;
const maxTimerMs = 2 ** 31 - 1;

/**
 * Runs one program to its own end: what it leaves in the background is neither waited for nor ended, even if it holds the output pipes.
 * A timeout or abort ends the program and everything it started. `group` is its process group.
 */
export async function runProcess(command: RunCommand, setting: ProcessSetting): Promise<{ result: RunResult; group: number }> {
  const stop = watchForStop(command, setting);
  try {
    if (stop.now()) return { result: { end: "aborted" }, group: 0 };
    const child = start(command, setting);
    const output = forwardOutput(child, command);
    const input = inputOf(child, command);
    input?.on("error", () => {}); // a program need not read its input
    input?.end(command.input);
    if (command.onStart) command.onStart(startedProgram(child));
    const exited = new Promise<RunResult>((resolve, reject) => {
      child.once("error", (error) => reject(startFailure({ error, command, cwd: setting.cwd })));
      child.once("exit", (code, signal) => resolve(signal ? { end: "signal", signal } : { end: "exit", exitCode: code ?? 0 }));
    });

    const result = await Promise.race([exited, stop.requested]);
    const group = child.pid ?? 0;
    if (result.end === "timeout" || result.end === "aborted") {
      await endProcesses({ mark: setting.mark, group, groupLast: command.holdsOthers ?? false });
      // A process that not even SIGKILL ends (it waits for a dead disk) must not hold us.
      await Promise.race([exited, pause(drainMs, undefined, { ref: false })]);
    }
    child.stdin?.destroy();
    input?.destroy();
    await output.drained();
    return { result, group };
  } finally {
    stop.dispose();
  }
}

function watchForStop(command: RunCommand, setting: ProcessSetting) {
  const signals = [command.signal, setting.closing];
  let request = (_end: "timeout" | "aborted"): void => {};
  const requested = new Promise<RunResult>((resolve) => {
    request = (end) => resolve({ end });
  });
  const onAbort = (): void => request("aborted");
  for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
  const isTimed = command.timeoutMs !== Number.POSITIVE_INFINITY;
  const timer = isTimed ? setTimeout(() => request("timeout"), Math.min(command.timeoutMs, maxTimerMs)) : undefined;
  return {
    requested,
    now: (): boolean => signals.some((signal) => signal.aborted),
    dispose(): void {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", onAbort);
    },
  };
}

function start(command: RunCommand, setting: ProcessSetting): ChildProcess {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const output = command.onOutput ? "pipe" : "ignore";
  const stdio: (IOType | number)[] = [command.input === undefined && !command.onStart ? "ignore" : "pipe", output, output];
  const { token } = setting;
  if (command.onStart && command.input !== undefined) stdio[inputDescriptor] = "pipe";
  if (token && !command.holdsOthers) {
    while (stdio.length < token.to) stdio.push("ignore"); // which opens nothing
    stdio.push(token.from);
  }
  try {
    return spawn(command.file, [...command.args], {
      cwd: setting.cwd,
      env: { ...setting.env },
      detached: true,
      stdio,
    });
  } catch (error) {
    throw startFailure({ error, command, cwd: setting.cwd });
  }
}

/** Where a program that gets its orders on standard input finds the command's own input. */
export const inputDescriptor = 3;

function inputOf(child: ChildProcess, command: RunCommand): Writable | null {
  const input = child.stdio[command.onStart ? inputDescriptor : 0];
  return (input ?? null) as Writable | null; // what "pipe" makes below the outputs is written to
}

function startedProgram(child: ChildProcess): StartedProgram {
  const { stdin } = child;
  stdin?.on("error", () => {}); // it ended before it was told anything
  const handles = [child, ...child.stdio] as readonly (Pick<Socket, "ref" | "unref"> | null | undefined)[];
  return {
    pid: child.pid,
    write: (text) => void stdin?.write(text),
    close: () => void stdin?.end(),
    kill() {
      stdin?.destroy();
      child.kill("SIGKILL");
    },
    hold(isHeld) {
      for (const handle of handles) isHeld ? handle?.ref() : handle?.unref();
    },
  };
}

function startFailure(facts: { error: unknown; command: RunCommand; cwd: string }): RuntimeError {
  const { error, command, cwd } = facts;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" && !existsSync(cwd))
    return new RuntimeError("usage", `The directory ${cwd} does not exist.`, { cause: error });
  if (code === "ENOENT")
    return new RuntimeError("not-found", `There is no program "${command.file}" on this machine.`, { cause: error });
  const reason = code === "E2BIG" ? "its arguments are too long" : error instanceof Error ? error.message : String(error);
  return new RuntimeError("usage", `"${command.file}" could not be started: ${reason}.`, { cause: error });
}

function forwardOutput(child: ChildProcess, command: RunCommand) {
  let chunks = 0;
  let forwarding = true;
  const open = new Set<Socket>();
  const forward = (stream: "stdout" | "stderr"): Promise<void> => {
    const pipe = child[stream] as Socket | null; // what "pipe" makes; the declared type hides `unref`
    if (!pipe) return Promise.resolve();
    open.add(pipe);
    pipe.on("error", () => {}); // the other end is gone: `close` follows
    pipe.on("data", (bytes: Buffer) => {
      chunks++;
      if (forwarding) command.onOutput?.({ stream, bytes });
    });
    return new Promise((resolve) => {
      pipe.once("close", () => {
        open.delete(pipe);
        resolve();
      });
    });
  };
  const closed = Promise.all([forward("stdout"), forward("stderr")]);

  return {
    /**
     * To be called after the exit: everything the program wrote is in the pipes by then. When something in the background still
     * holds them, they are read on and thrown away (a server must not die of a closed pipe) without keeping our own process alive.
     */
    async drained(): Promise<void> {
      await Promise.race([closed, untilQuiet(() => chunks)]);
      forwarding = false;
      for (const pipe of open) pipe.unref();
    },
  };
}

async function untilQuiet(chunks: () => number): Promise<void> {
  const deadline = monotonicMs() + drainMs;
  for (let seen = -1; seen !== chunks() && monotonicMs() < deadline; ) {
    seen = chunks();
    await pause(quietMs, undefined, { ref: false });
    await nextTurn(); // after a stall of ours timers come before the pipes are looked at
  }
}
