import type { Writable } from "node:stream";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { TransportAdapter } from "../../session/transport-adapter.ts";
import { checkValue, oneOf } from "../../protocol/kinds.ts";
import { createIdSeries } from "../../util/unique-ids.ts";
import { createBasicFormat, isBasicSuccess } from "./basic-format.ts";
import { LineOutput } from "./line-output.ts";
import { reasonOf } from "./outcome-reason.ts";
import { type OutputFormatName, outputFormatNames } from "./output-format.ts";
import { runPrompt } from "./run-prompt.ts";

export type HeadlessRunnerOptions = {
  readonly session: InteractiveSession<unknown>;
  readonly outputFormat?: OutputFormatName;
  /** Standard output when absent. */
  readonly output?: Writable;
  /** Where the text format says what went wrong; standard error when absent. */
  readonly errorOutput?: Writable;
};

/** Runs one prompt and writes it in the chosen format; resolves with 0, or 1 when it failed. */
export function createHeadlessRunner(options: HeadlessRunnerOptions): { run(prompt: string): Promise<number> } {
  const { session, outputFormat = "text" } = options;
  checkValue("outputFormat", outputFormat, oneOf(outputFormatNames));
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

export type HeadlessTransportOptions = Omit<HeadlessRunnerOptions, "session"> & { readonly prompt: string };

export function createHeadlessTransport(options: HeadlessTransportOptions): TransportAdapter & { getExitCode(): number } {
  let session: InteractiveSession<unknown> | undefined;
  let exitCode = 1; // until a run has shown otherwise
  return {
    name: "headless",
    attach(attached) {
      session = attached;
    },
    async start() {
      if (!session) throw new Error("The headless transport is not attached to a session");
      exitCode = await createHeadlessRunner({ ...options, session }).run(options.prompt);
    },
    async stop() {},
    getExitCode: () => exitCode,
  };
}
