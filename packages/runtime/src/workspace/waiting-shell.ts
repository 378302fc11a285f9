import { statSync } from "node:fs";
import type { LocalCommand, LocalProcess } from "./process.ts";
import { areSame, canStartAhead, toWaiting, waitScript } from "./wait-script.ts";
import type { OutputChunk, ProgramCommand } from "./workspace.ts";

export type PlacedCommand = LocalCommand & { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** A bash that was started ahead of its script: starting one takes longer than most scripts. */
export interface WaitingShell {
  /** Is it what this command asks for, but for the script? */
  fits(command: PlacedCommand): boolean;
  /** It runs the script of this command. Undefined when it cannot: then nothing of the script was run. */
  take(command: PlacedCommand): Promise<LocalProcess | undefined>;
  /** Unused: gone at once. */
  discard(): Promise<void>;
}

/** Said when it waits; what bash says before belongs to the output of the command. */
const readyMark = "\u001eoutrider-shell-ready\u001e";
const sayReady = "printf '\\036outrider-shell-ready\\036' >&2";

/** Can the script of this command be run by a shell that waits for it? */
export function canWait({ file, args, env, isRepeated, takesInput, takesOrders, onOutput }: PlacedCommand): boolean {
  if (!isRepeated || takesInput || takesOrders || !onOutput) return false;
  return file === "bash" && args[0] === "-c" && args.length === 2 && canStartAhead(env);
}

/** Starts one for commands like this. It holds nobody up: our process may end, and then it does too. */
export async function startWaitingShell(
  { file, cwd, env, place, unboxed }: PlacedCommand,
  start: (command: PlacedCommand) => Promise<LocalProcess>,
): Promise<WaitingShell> {
  const words = readWords();
  const shell = await start({
    ...{ file, args: ["-c", `${sayReady}; ${waitScript}`], cwd, env, place, unboxed, takesOrders: "on-3" },
    onOutput: words.take,
  });
  shell.hold(false);
  const gone = shell.ended.then(ignore, ignore);

  return {
    fits: (command) => canWait(command) && command.cwd === cwd && areSame(command.env, env),
    async take({ args, onOutput, signal }) {
      shell.hold(true);
      await Promise.race([words.ready, gone]);
      if (!words.isReady() || !isStillIn(shell.pid, cwd)) return undefined;
      await words.passTo(onOutput);
      const kill = (): void => void shell.kill();
      signal?.addEventListener("abort", kill, { once: true });
      if (signal?.aborted) kill();
      void gone.then(() => signal?.removeEventListener("abort", kill));
      shell.order(toWaiting(args[1] ?? ""), { last: true });
      return shell;
    },
    async discard() {
      shell.hold(true);
      shell.killNow();
      await gone;
    },
  };
}

function ignore(): void {}

/** The folder may have been moved away or made anew meanwhile. */
function isStillIn(pid: number, cwd: string): boolean {
  try {
    const [own, meant] = [statSync(`/proc/${pid}/cwd`), statSync(cwd)];
    return own.ino === meant.ino && own.dev === meant.dev;
  } catch {
    return false;
  }
}

function readWords() {
  let before = Buffer.alloc(0);
  let pass: ProgramCommand["onOutput"];
  let isReady = false;
  let tellReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    tellReady = resolve;
  });
  return {
    ready,
    isReady: (): boolean => isReady,
    /** From here on everything is the command's. */
    async passTo(onOutput: ProgramCommand["onOutput"]): Promise<void> {
      pass = onOutput;
      if (before.length > 0) await onOutput?.({ stream: "stderr", bytes: before });
    },
    take(chunk: OutputChunk): void | Promise<void> {
      if (pass) return pass(chunk);
      before = Buffer.concat([before, chunk.bytes]);
      const at = before.indexOf(readyMark);
      if (at === -1) return;
      before = before.subarray(0, at);
      isReady = true;
      tellReady();
    },
  };
}
