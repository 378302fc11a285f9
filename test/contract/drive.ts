import { lines, type Run, type RunOptions, start } from "../e2e/command.ts";
import { type Answers, recordOf } from "./host.ts";
import type { JsonRecord } from "./structure.ts";

export type Sending = {
  readonly frame: JsonRecord | string;
  /** Sent when so many frames have come for which this is true; at once without it. */
  readonly after?: { readonly is: (frame: JsonRecord) => boolean; readonly count?: number };
};

/** Runs the command as a host does: writes frames, answers requests, closes the input after the last result it waits for. */
export async function drive(
  args: readonly string[],
  host: { readonly sends: readonly Sending[]; readonly answers: Answers; readonly results: number },
  options: Omit<RunOptions, "stdin">,
): Promise<Run & { frames: JsonRecord[] }> {
  const { child, done } = start(args, { ...options, stdin: "open" });
  child.stdin.on("error", () => {}); // a command that has ended reads no more
  const seen: JsonRecord[] = [];
  const waiting = [...host.sends];
  const say = (frame: JsonRecord | string): void => {
    child.stdin.write(typeof frame === "string" ? frame : `${JSON.stringify(frame)}\n`);
  };
  const go = (): void => {
    for (let next = waiting[0]; next && isDue(next, seen); next = waiting[0]) {
      waiting.shift();
      say(next.frame);
    }
    if (waiting.length === 0 && seen.filter(({ type }) => type === "result").length >= host.results) child.stdin.end();
  };
  let rest = "";
  child.stdout.on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const frame of parts.filter(Boolean).map((line): JsonRecord => JSON.parse(line))) {
      seen.push(frame);
      if (frame["type"] === "control_request") {
        const response = {
          subtype: "success",
          request_id: frame["request_id"] ?? "",
          response: host.answers(recordOf(frame["request"])),
        };
        say({ type: "control_response", response });
      }
    }
    go();
  });
  go();
  const run = await done;
  return { ...run, frames: lines(run.stdout) as JsonRecord[] }; // every line is an object, or parsing has failed
}

function isDue({ after }: Sending, seen: readonly JsonRecord[]): boolean {
  return after === undefined || seen.filter(after.is).length >= (after.count ?? 1);
}
