import type { LocalProcess } from "../process.ts";
import type { LocalWorkspace } from "../local.ts";
import type { OutputChunk, ProgramCommand, RunningProcess } from "../workspace.ts";
import type { BoxPlan } from "./box-plan.ts";
import { hasMountTable, mountTable } from "./mount-table.ts";
import { type BoxVariables, readyMark } from "./start-script.ts";

export type StandingBox = {
  readonly plan: BoxPlan;
  /** A bash with these variables waits in it for its script; a shell that can become any program when absent. */
  readonly bash: BoxVariables | undefined;
  /** Of bubblewrap itself: everything in the box is below it. Undefined where it could not be started. */
  readonly pid: Promise<number | undefined>;
  /** Waits until it stands or is gone. Is it still what was planned, mount by mount? */
  isIntact(): Promise<boolean>;
  /** Its one program, which goes on when this is answered. */
  start(command: BoxCommand): Promise<BoxStart>;
  /** Gone at once, with what runs in it. */
  discard(): Promise<void>;
};

export type BoxCommand = {
  /** What the shell inside reads, or the bash. */
  readonly script: string;
  readonly onOutput: ProgramCommand["onOutput"];
  /** Kills it. */
  readonly signal: AbortSignal | undefined;
};

/** `complaint`: the program was never started, and this is what bubblewrap or the shell said. */
export type BoxStart = { readonly program: RunningProcess } | { readonly complaint: string };

export type RaiseSetting = {
  readonly local: LocalWorkspace;
  readonly plan: BoxPlan;
  readonly file: string;
  readonly args: readonly string[];
  /** A file it reads while it makes the box. */
  readonly filter: string | undefined;
  /** What the shell inside reads first. */
  readonly start: string;
  readonly takesInput: boolean;
  readonly bash: BoxVariables | undefined;
};

/** Starts a box that waits for its one program and goes with it. Until then nothing in it is anybody's but ours. */
export function raiseBox({ local, plan, file, args, filter, start, takesInput, bash }: RaiseSetting): StandingBox {
  const words = readWords();
  let table: string | undefined;
  const raise = async (): Promise<LocalProcess> => {
    const shell = await local.launch({
      ...{ file, args, cwd: "/", takesInput, place: "box", takesOrders: "on-input", holdsOthers: true, reads: filter },
      onOutput: words.take,
    });
    shell.hold(false); // nobody waits for a box that has nothing to do
    shell.order(start);
    return shell;
  };
  const raised = raise();
  const standing = async (): Promise<LocalProcess | undefined> => await raised.catch(() => undefined); // told to whoever starts a program in it
  const gone = standing().then((shell) => shell?.ended);
  const looked = words.stands.then(async () => {
    const shell = await standing();
    if (shell && !words.isOrdered()) table = mountTable(shell.pid, plan.mounts);
  });

  return {
    plan,
    bash,
    pid: standing().then((shell) => shell?.pid),
    async isIntact() {
      const shell = await standing();
      shell?.hold(true);
      await Promise.race([looked, gone]);
      return shell !== undefined && table !== undefined && hasMountTable(shell.pid, table);
    },
    async start({ script, onOutput, signal }) {
      words.passTo(onOutput);
      const shell = await raised;
      shell.hold(true);
      const kill = (): void => void shell.kill();
      signal?.addEventListener("abort", kill, { once: true });
      if (signal?.aborted) kill();
      shell.ended.finally(() => signal?.removeEventListener("abort", kill)).catch(() => {});
      shell.order(script, { last: true });
      const end = await Promise.race([words.started, shell.ended]);
      return end?.end === "exit" && !words.isStarted() ? { complaint: words.complaint() } : { program: shell };
    },
    async discard() {
      const shell = await standing();
      shell?.hold(true);
      shell?.killNow();
      await gone;
    },
  };
}

/** Keeps the words of bubblewrap and of the shell apart from those of the program, which begin at the first mark, or at the second. */
function readWords() {
  let marks = 0;
  let before = Buffer.alloc(0);
  let pass: ProgramCommand["onOutput"];
  let isOrdered = false;
  let stand = (): void => {};
  let start = (): void => {};
  const stands = new Promise<void>((resolve) => {
    stand = resolve;
  });
  const started = new Promise<undefined>((resolve) => {
    start = () => resolve(undefined);
  });
  return {
    stands,
    started,
    isOrdered: (): boolean => isOrdered,
    isStarted: (): boolean => marks === 2,
    complaint: (): string => before.toString("utf8").replaceAll(readyMark, "").slice(0, 2000),
    passTo(onOutput: ProgramCommand["onOutput"]): void {
      isOrdered = true;
      pass = onOutput;
    },
    take(chunk: OutputChunk): void | Promise<void> {
      if (chunk.stream === "stdout" || marks === 2) return pass?.(chunk);
      before = Buffer.concat([before, chunk.bytes]);
      for (let at = before.indexOf(readyMark); at !== -1 && marks < 2; at = before.indexOf(readyMark)) {
        const behind = before.subarray(at + readyMark.length);
        before = marks === 0 ? behind : Buffer.concat([before.subarray(0, at), behind]);
        if (++marks === 1) stand();
        else start();
      }
      if (marks === 2 && before.length > 0) return pass?.({ stream: "stderr", bytes: before });
    },
  };
}
