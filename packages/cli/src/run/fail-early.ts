import { type Outcome, RuntimeError, toRuntimeError } from "@outrider/runtime";
import { createRedactor, LineOutput } from "@outrider/runtime/host";
import { openCi, wantsReport } from "../ci/open-ci.ts";
import type { CiRun } from "../ci/start-ci.ts";
import { exitCodeOf } from "../exit-codes.ts";
import { createEarlyFormat } from "./output-format.ts";
import { complain, say } from "./say.ts";
import { StoppedEarly } from "./signals.ts";

/** What a result is to look like that no session can write; a host finds it by the id it chose. */
export type EarlyWish = {
  readonly format: string | undefined;
  readonly flavor: string | undefined;
  readonly verbose?: boolean | undefined;
  readonly sessionId?: string | undefined;
};

/** A failure before there was a session: told on stderr, in the machine formats as the one result they promise, and to CI. */
export async function failEarly(thrown: unknown, wanted: EarlyWish, begun?: CiRun): Promise<number> {
  const ci = begun ?? (await openCi(wantsReport(process.argv.slice(2)), complain));
  const error = ofPlace(thrown) ?? toRuntimeError(thrown);
  const stopped = thrown instanceof StoppedEarly;
  const outcome = createRedactor({ env: process.env }).value<Outcome>(
    stopped ? { type: "cancelled", cause: thrown.by, text: "" } : { type: "failed", error: error.toJSON(), text: "" },
  );
  const beside = wanted.format ?? "text"; // words give way only to a result that is written
  complain(error.message + (error.hint ? `\n${error.hint}` : ""), beside);
  if (error.code === "usage") say("See outrider --help\n", beside);
  if (!stopped && error.code === "internal" && error.cause instanceof Error) say(`${error.cause.stack}\n`, beside);
  if (wanted.format === "atif-jsonl") {
    const { createAtifJsonlFormat } = await import("@outrider/runtime/atif");
    process.stdout.write(await (await createAtifJsonlFormat({ sessionId: "" })).end(outcome));
  }
  if (wanted.format === "json" || wanted.format === "stream-json") {
    const output = new LineOutput(process.stdout);
    const format = await createEarlyFormat(wanted.format, wanted);
    output.write(await (ci?.watch(format, "json") ?? format).end(outcome));
    await output.drain();
  }
  const code = exitCodeOf(outcome, stopped ? { signal: thrown.signal } : {});
  await ci?.end(outcome, code);
  return code;
}

/** What the system says of a place: the folder in which the command was started is removed, one for its own files cannot be made, or none is left to open a file with. */
function ofPlace(thrown: unknown): RuntimeError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { syscall, path, code } = thrown as NodeJS.ErrnoException; // looked at only
  if (code === "EMFILE" || code === "ENFILE")
    return new RuntimeError("storage-failed", thrown.message, {
      cause: thrown,
      hint: "Raise the limit of open files (ulimit -n), or run fewer sessions at once",
    });
  if (syscall === "mkdir")
    return new RuntimeError("storage-failed", `The folder ${path} cannot be made: ${thrown.message}`, {
      cause: thrown,
      hint: "Choose a place that can be written; OUTRIDER_HOME names the folder for Outrider's own files",
    });
  if (syscall !== "uv_cwd") return undefined;
  return new RuntimeError("config", "The current directory is not there any more", {
    hint: "Change to a folder that is there, or name one with --cwd",
  });
}
