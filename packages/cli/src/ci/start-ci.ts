import { appendFileSync } from "node:fs";
import type { Outcome, SessionOptions } from "@outrider/runtime";
import type { OutputFormat } from "@outrider/runtime/host";
import { toOutputs } from "./outputs.ts";
import type { CiPlatform } from "./platform.ts";
import { RunReporter } from "./run-report.ts";
import { toMarkdown } from "./summary.ts";
import { logCommandsOf } from "./workflow-commands.ts";

export type CiOptions = {
  readonly platform: CiPlatform;
  readonly task: string;
  /** Hidden by the log viewer, should they be printed by anyone. */
  readonly secrets: readonly string[];
  /** Cannot be guessed by a model: it ends the part of the log in which commands are not obeyed. */
  readonly token: string;
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly catalogOverride?: SessionOptions["catalogOverride"];
};

export interface CiRun {
  /** The same output, watched for the report. */
  watch(format: OutputFormat): OutputFormat;
  end(outcome: Outcome, exitCode: number): Promise<void>;
}

/** Folds the progress, then leaves a summary, outputs and, when it did not go well, an annotation. A file that cannot be written is a warning, not a failure. */
export function startCi(sessionId: string, options: CiOptions): CiRun {
  const { platform, write, catalogOverride } = options;
  const commands = logCommandsOf(platform.name, { token: options.token, now: Date.now });
  const reporter = new RunReporter(options.task, { sessionId, ...(catalogOverride && { catalogOverride }) });
  write(commands.mask(options.secrets) + commands.begin("Outrider: progress"));
  let open = true;
  const closeLog = (): void => {
    if (open) write(commands.end());
    open = false;
  };
  const append = (path: string | undefined, text: string): void => {
    if (!path) return;
    try {
      appendFileSync(path, text);
    } catch (error) {
      options.warn(`${path} cannot be written: ${error instanceof Error ? error.message : error}`);
    }
  };
  return {
    watch: (format) => ({
      event(event) {
        reporter.apply(event);
        return format.event(event);
      },
      async end(outcome) {
        closeLog(); // the answer is no part of the fold
        return await format.end(outcome);
      },
    }),
    async end(outcome, exitCode) {
      closeLog();
      const report = await reporter.finish(outcome, exitCode);
      if (outcome.type !== "completed") write(commands.failure(report));
      append(platform.summary, toMarkdown(report));
      append(platform.output, toOutputs(report, platform.name === "github" ? "github" : "dotenv", options.token));
    },
  };
}
