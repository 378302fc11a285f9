import type { Writable } from "node:stream";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { TransportAdapter } from "../../session/transport-adapter.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { checkOptions, having, type Kind, needed, oneOf, text } from "../../protocol/kinds.ts";
import { createIdSeries } from "../../util/unique-ids.ts";
import { createBasicFormat, isBasicSuccess } from "./basic-format.ts";
import { LineOutput } from "./line-output.ts";
import { reasonOf } from "./outcome-reason.ts";
import { type OutputFormatName, outputFormatNames } from "./output-format.ts";
import { runPrompt } from "./run-prompt.ts";

export type HeadlessRunnerOptions = {
  readonly session: InteractiveSession<unknown>;
  readonly outputFormat?: OutputFormatName | undefined;
  /** Standard output when absent. */
  readonly output?: Writable | undefined;
  /** Where the text format says what went wrong; standard error when absent. */
  readonly errorOutput?: Writable | undefined;
};

/** Runs one prompt and writes it in the chosen format; resolves with 0, or 1 when it failed. */
export function createHeadlessRunner(options: HeadlessRunnerOptions): { run(prompt: string): Promise<number> } {
  checkOptions("createHeadlessRunner", options, runnerKinds);
  const { session, outputFormat = "text" } = options;
  return {
    async run(prompt) {
      const output = options.output ? new LineOutput(options.output) : new LineOutput(process.stdout, { descriptor: 1 });
      const format = createBasicFormat(outputFormat, { sessionId: session.id, newId: createIdSeries() });
      const outcome = await runPrompt(session, prompt, { format, output });
      output.release();
      if (isBasicSuccess(outcome) && !output.closed) return 0;
      const why = output.failure?.message ?? "its reader has left";
      const reason = output.closed
        ? `The output cannot be written: ${why}`
        : outputFormat === "text"
          ? reasonOf(outcome)
          : undefined;
      if (reason !== undefined) (options.errorOutput ?? process.stderr).write(`${reason}\n`);
      return 1;
    },
  };
}

const stream = having(["write"], "a stream to write to");
const runnerKinds: Readonly<Record<keyof HeadlessRunnerOptions, Kind>> = {
  session: needed(having(["submit"], "a session")),
  outputFormat: oneOf(outputFormatNames),
  output: stream,
  errorOutput: stream,
};

export type HeadlessTransportOptions = Omit<HeadlessRunnerOptions, "session"> & { readonly prompt: string };

export function createHeadlessTransport(options: HeadlessTransportOptions): TransportAdapter & { getExitCode(): number } {
  const { session: _, ...kinds } = runnerKinds;
  checkOptions("createHeadlessTransport", options, { ...kinds, prompt: needed(text) });
  let session: InteractiveSession<unknown> | undefined;
  let exitCode = 1; // until a run has shown otherwise
  return {
    name: "headless",
    attach(attached) {
      session = attached;
    },
    async start() {
      if (!session)
        throw new RuntimeError("usage", "The headless transport is not attached to a session", {
          hint: "Call session.attachTransport(transport) first",
        });
      const { prompt, ...given } = options;
      exitCode = await createHeadlessRunner({ ...given, session }).run(prompt);
    },
    async stop() {},
    getExitCode: () => exitCode,
  };
}
