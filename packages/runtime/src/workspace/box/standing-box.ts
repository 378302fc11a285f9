import type { RunCommand, RunResult, StartedProgram, Workspace } from "../workspace.ts";
import type { BoxPlan } from "./box-plan.ts";
import { hasMountTable, mountTable } from "./mount-table.ts";
import { readyMark } from "./start-script.ts";

export type StandingBox = {
  readonly plan: BoxPlan;
  /** Waits until it stands or is gone. Is it still what was planned, mount by mount? */
  isIntact(): Promise<boolean>;
  /** Its one command. `script` is what the shell inside reads. */
  run(command: BoxCommand): Promise<BoxEnd>;
  /** Unused: gone at once. */
  discard(): Promise<void>;
};

export type BoxCommand = {
  readonly timeoutMs: number;
  readonly onOutput: RunCommand["onOutput"] | undefined;
  readonly script: string;
  readonly signals: readonly AbortSignal[];
};

/** `complaint`: the program was never started, and this is what bubblewrap or the shell said. */
export type BoxEnd = { readonly result: RunResult; readonly complaint?: string };

export type RaiseSetting = {
  readonly local: Workspace;
  readonly plan: BoxPlan;
  readonly file: string;
  readonly args: readonly string[];
  /** What the shell inside reads first. */
  readonly start: string;
  readonly input: string | undefined;
};

const maxTimerMs = 2 ** 31 - 1;

/** Starts a box that waits for its one command and goes with it. Until then nothing in it is anybody's but ours. */
export function raiseBox({ local, plan, file, args, start, input }: RaiseSetting): StandingBox {
  const stop = new AbortController();
  const words = readWords();
  let program: StartedProgram | undefined;
  let table: string | undefined;
  const ended = local.run({
    file,
    args,
    cwd: "/",
    ...(input !== undefined && { input }),
    place: "box",
    holdsOthers: true,
    timeoutMs: Number.POSITIVE_INFINITY,
    signal: stop.signal,
    onStart(started) {
      program = started;
      started.hold(false); // nobody waits for a box that has nothing to do
      started.write(start);
    },
    onOutput: words.take,
  });
  const gone = ended.then(
    () => {},
    () => {}, // told to whoever runs a command in it
  );
  const looked = words.stands.then(() => {
    if (program?.pid !== undefined && !words.isOrdered()) table = mountTable(program.pid, plan.mounts);
  });

  return {
    plan,
    async isIntact() {
      program?.hold(true);
      await Promise.race([looked, gone]);
      return program?.pid !== undefined && table !== undefined && hasMountTable(program.pid, table);
    },
    async run({ script, signals, timeoutMs, onOutput }) {
      words.passTo(onOutput);
      let isLate = false;
      const onAbort = (): void => stop.abort();
      for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
      if (signals.some((signal) => signal.aborted)) stop.abort();
      const timer = setTimeout(
        () => {
          isLate = true;
          stop.abort();
        },
        Math.min(timeoutMs, maxTimerMs),
      );
      try {
        program?.hold(true);
        program?.write(script);
        program?.close();
        const result = await ended;
        if (result.end === "aborted" && isLate) return { result: { end: "timeout" } };
        return { result, ...(result.end === "exit" && !words.isStarted() && { complaint: words.complaint() }) };
      } finally {
        clearTimeout(timer);
        for (const signal of signals) signal.removeEventListener("abort", onAbort);
      }
    },
    async discard() {
      program?.hold(true);
      program?.kill();
      await gone;
    },
  };
}

/** Keeps the words of bubblewrap and of the shell apart from those of the program: before the second mark, and behind it. */
function readWords() {
  let marks = 0;
  let before = Buffer.alloc(0);
  let pass: RunCommand["onOutput"];
  let isOrdered = false;
  let stand = (): void => {};
  const stands = new Promise<void>((resolve) => {
    stand = resolve;
  });
  return {
    stands,
    isOrdered: (): boolean => isOrdered,
    isStarted: (): boolean => marks === 2,
    complaint: (): string => before.toString("utf8").replaceAll(readyMark, "").slice(0, 2000),
    passTo(onOutput: RunCommand["onOutput"]): void {
      isOrdered = true;
      pass = onOutput;
    },
    take(chunk: { stream: "stdout" | "stderr"; bytes: Uint8Array }): void {
      if (chunk.stream === "stdout" || marks === 2) return pass?.(chunk);
      before = Buffer.concat([before, chunk.bytes]);
      for (let at = before.indexOf(readyMark); at !== -1 && marks < 2; at = before.indexOf(readyMark)) {
        before = before.subarray(at + readyMark.length);
        if (++marks === 1) stand();
      }
      if (marks === 2 && before.length > 0) pass?.({ stream: "stderr", bytes: before });
    },
  };
}
