import { closeSync, constants, openSync, statSync, writeSync } from "node:fs";
import type { AgentEvent, Outcome } from "@outrider/runtime";
import type { OutputFormat, ShownOutcome } from "@outrider/runtime/host";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import { lookAtWorkTree, type WorkTree } from "./changed-files.ts";
import { toOutputs } from "./outputs.ts";
import type { CiPlatform } from "./platform.ts";
import { emptyReport, type RunFacts, type RunReport, RunReporter } from "./run-report.ts";
import { Narrator } from "../terminal/narrator.ts";
import { createPaint } from "../terminal/paint.ts";
import { toMarkdown } from "./summary.ts";
import { defuseJson, logCommandsOf, looksLikeCommands } from "./workflow-commands.ts";

export type CiOptions = {
  readonly platform: CiPlatform;
  /** Hidden by the log viewer, should they be printed by anyone, and left out of the report. */
  readonly secrets: readonly string[];
  /** A word that nobody can guess. One ends the part of the log in which commands are not obeyed; another is never shown. */
  readonly newToken: () => string;
  /** To stderr, at once. */
  readonly write: (text: string) => void;
  readonly warn: (text: string) => void;
  /** What happens is told in the fold. */
  readonly narrates: boolean;
  /** What stdout and stderr lead to: a file is no log, and nobody obeys what is in it. */
  readonly isFile: { readonly stdout: boolean; readonly stderr: boolean };
};

/** Those that name a file which the command itself writes. */
type WritingFlags = Readonly<Partial<Record<"report" | "trajectory" | "record" | "debug-file", string | undefined>>>;

export interface CiRun {
  /** What happens is told in the log. */
  readonly isTold: boolean;
  /** Remembers what a working directory looks like before anything runs in it. What flags have the command write is no change of it. */
  lookAround(cwd: string, flags: WritingFlags): Promise<void>;
  /** What is being run. */
  follow(facts: RunFacts): void;
  /** The same output, watched for the report; `text` is the model's own words, anything else is JSON. */
  watch(format: OutputFormat, kind: "text" | "json"): OutputFormat;
  /** The same for an output that is encoded elsewhere: what happens, and what is to be done to the JSON lines. */
  apply(event: AgentEvent): void;
  readonly rewrite: (lines: string) => string;
  /** Leaves the report. Where it is never called, a shorter one is left when the process exits. */
  end(outcome: ShownOutcome, exitCode: number): Promise<void>;
}

/** How long git may take to look at the work tree; at the end of a run that was told to stop there is less time. */
const gitPatienceMs = 5_000;
const hurriedGitPatienceMs = 400;
/** The runner reads stdout and stderr side by side: time for it to have read what was printed last on the other one. */
const otherStreamMs = 300;
/** A log has no width of its own; longer lines are no pleasure to read. */
const logColumns = 160;
/** GitHub takes a step's summary up to this size. */
const maxSummaryBytes = 1024 * 1024;

/**
 * Hides secrets and folds the progress, then leaves a summary, outputs and, when it did not go well, an annotation. In between
 * nothing that is printed can be a command to the platform. A file that cannot be written is a warning, not a failure.
 */
export function startCi(options: CiOptions): CiRun {
  const { platform, write } = options;
  const commands = logCommandsOf(options.isFile.stderr ? "other" : platform.name, { token: options.newToken(), now: Date.now });
  const isTold = options.narrates && platform.name !== "other" && !options.isFile.stderr;
  const narrator = isTold ? new Narrator({ paint: createPaint(false), columns: () => logColumns, verbose: true }) : undefined;
  let reporter: RunReporter | undefined;
  let workTree: WorkTree | undefined;
  let state: "folded" | "open" | "over" = "folded";
  let saidCommands = false;
  /** How the last prompt went, as far as it is known. */
  let said: Outcome | undefined;

  write(commands.mask(options.secrets) + commands.begin("Outrider: progress"));
  const closeFold = (): void => {
    if (state === "folded") write(commands.closeFold());
    if (state === "folded") state = "open";
  };
  const leave = (gathered: RunReport): void => {
    if (state === "over") return;
    closeFold();
    state = "over";
    process.off("exit", onExit);
    const report = hideSecrets(gathered, options.secrets);
    write(commands.release() + (report.outcome.type === "completed" ? "" : commands.failure(report)));
    leaveFiles(report, options);
  };
  const onExit = (exitCode: number): void => {
    const outcome = said && exitCodeOf(said) === exitCode ? said : brokenOff(exitCode);
    leave(reporter?.soFar(outcome, exitCode) ?? emptyReport(outcome, exitCode));
  };
  process.on("exit", onExit);

  const apply = (event: AgentEvent): void => {
    if (event.type === "turn.ended" && event.taskId === undefined) said = event.outcome;
    reporter?.apply(event);
    const lines = state === "folded" ? (narrator?.apply(event) ?? []) : [];
    if (lines.length > 0) write(`${lines.join("\n")}\n`);
  };
  const rewrite = platform.name === "github" ? defuseJson : (lines: string): string => lines;
  return {
    isTold,
    async lookAround(cwd, { report, trajectory, record, "debug-file": debugFile }) {
      const own = [report, trajectory, record, debugFile].filter((path) => path !== undefined);
      workTree = await lookAtWorkTree(cwd, gitPatienceMs, own);
    },
    follow(facts) {
      reporter = new RunReporter(facts);
    },
    apply,
    rewrite,
    watch: (format, kind) => {
      const seen = (text: string): string => {
        if (platform.name !== "github") return text;
        if (kind === "json") return rewrite(text);
        saidCommands ||= looksLikeCommands(text);
        return text;
      };
      return {
        event(event) {
          apply(event);
          return seen(format.event(event));
        },
        async end(outcome) {
          closeFold(); // the answer is no part of the fold
          said = outcome;
          return seen(await format.end(outcome));
        },
      };
    },
    async end(outcome, exitCode) {
      const report = (await reporter?.finish(outcome, exitCode)) ?? emptyReport(outcome, exitCode);
      const patienceMs = outcome.type === "cancelled" ? hurriedGitPatienceMs : gitPatienceMs;
      const beside = (await workTree?.changes(patienceMs)) ?? [];
      if (saidCommands && !options.isFile.stdout) await new Promise((resolve) => setTimeout(resolve, otherStreamMs));
      leave({ ...report, changedBeside: beside.filter((file) => !report.changedFiles.includes(file)) });
    },
  };
}

/** The process ends and its run has not said how it went: it was told to stop and could not, or something broke. */
function brokenOff(exitCode: number): Outcome {
  if (exitCode === exitCodes.cancelled || exitCode === exitCodes.killed) return { type: "cancelled", cause: "abort", text: "" };
  const message = "The process ended before its run did";
  return { type: "failed", error: { code: "internal", message, retryable: false }, text: "" };
}

/** Values only, and longer ones first: one may be a part of another. */
function hideSecrets(report: RunReport, secrets: readonly string[]): RunReport {
  const hidden = [...secrets].sort((a, b) => b.length - a.length);
  const hide = (text: string): string => hidden.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
  const copy: RunReport = JSON.parse(JSON.stringify(report), (_, value: unknown) =>
    typeof value === "string" ? hide(value) : value,
  );
  return { ...copy, task: copy.task };
}

function leaveFiles(report: RunReport, { platform, warn, newToken }: CiOptions): void {
  if (platform.summary !== undefined) {
    const markdown = toMarkdown(report, maxSummaryBytes - sizeOf(platform.summary));
    if (markdown === undefined) warn(`${platform.summary} is full: there is no summary of this run`);
    else append(platform.summary, markdown, warn);
  }
  if (platform.output !== undefined)
    append(platform.output, toOutputs(report, platform.name === "github" ? "github" : "dotenv", newToken()), warn);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Never through a link: in a work tree a pull request could have brought one that leads elsewhere. */
function append(path: string, text: string, warn: (text: string) => void): void {
  try {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
    const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o644);
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    warn(`${path} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}
