import { constants } from "node:os";
import { RuntimeError } from "../protocol/errors.ts";
import type { ToolDetails } from "../protocol/events.ts";
import type { InertGit } from "../protocol/permission.ts";
import { defined } from "../util/defined.ts";
import { isInside } from "../util/is-inside.ts";
import type { PlaceFacts, RunCommand, RunResult, Workspace } from "../workspace/workspace.ts";
import type { BashInput, Limits } from "./builtin/bash.ts";
import { type CommandOutput, createCommandOutput } from "./builtin/command-output.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";
import { type Place, placeIn } from "./working-directory.ts";

/** Output beyond this is shown at its end and otherwise lost: memory and disk stay bounded whatever a command prints. */
const maxSavedCharacters = 16 * 1024 * 1024;
const progressIntervalMs = 200;
const progressCharacters = 2_000;
/** Of a failed command's last words: what it failed for stands there. */
const noticedCharacters = 4_000;
/** Linux takes no single argument of 128 KiB or more. */
const maxArgumentBytes = 120 * 1024;

/** Nobody is there to leave a pager, type a password or close an editor. */
export const unattended: Readonly<Record<string, string>> = {
  TERM: "dumb",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
};

/** Runs a command to its end, or starts one that goes on after its call. */
export async function runBash(input: BashInput, context: ToolContext, limits: Limits): Promise<ToolOutput> {
  const { workspace, signal } = context;
  if (input.command.includes("\0"))
    throw new ToolFailure("The command holds a NUL character, which bash cannot take. Send it without.");
  const place = placeIn(context.memory, workspace);
  const notices = await checkPlace(place, workspace);
  if (input.run_in_background) {
    const { startInBackground } = await import("./run-in-background.ts");
    const script = await commandScript(input.command, context);
    return await startInBackground(input, { context, directory: place.directory, script, env: unattended, notices });
  }
  const timeoutMs = input.timeout ?? limits.defaultTimeoutMs;
  const output = createCommandOutput({ keep: maxSavedCharacters, tail: limits.outputCharacters });
  const progress = reportProgress(output, context);

  let result: RunResult | { readonly end: "moved"; readonly answer: ToolOutput };
  let facts: PlaceFacts | undefined;
  try {
    const run = limits.movesToBackground && context.tasks?.background ? await movableRun(input, context) : workspace.run;
    result = await run({
      file: "bash",
      callId: context.callId,
      args: ["-c", await scriptFor({ command: input.command, place, workspace, git: context.git })],
      cwd: place.directory,
      env: { ...unattended, PWD: place.directory },
      ownTemporary: true,
      ...(place.record !== undefined && { writes: [place.record] }),
      isRepeated: true,
      timeoutMs,
      signal,
      onPlace(told) {
        facts = told;
      },
      onOutput(chunk) {
        output.add(chunk);
        progress.changed();
      },
    });
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "not-found") {
      throw new ToolFailure("There is no bash on this machine (looked for it in PATH), so no command can be run.", {
        cause: error,
      });
    }
    throw error instanceof RuntimeError ? new ToolFailure(error.message, { cause: error }) : error;
  } finally {
    progress.stop();
  }
  if (result.end === "moved") return result.answer;
  const moved = limits.staysAtRoot ? undefined : await followShell(place, context);
  return report({ result, output, notices, moved, timeoutMs, workspace, place: facts, limits });
}

/** What bash runs of a command that goes on after its call: where it goes is not remembered. */
export async function commandScript(command: string, { workspace, memory, git }: ToolContext): Promise<string> {
  const place = { ...placeIn(memory, workspace), record: undefined };
  return await scriptFor({ command, place, workspace, git });
}

type MovableRun = (command: RunCommand) => Promise<RunResult | { readonly end: "moved"; readonly answer: ToolOutput }>;

/** As `workspace.run`, but what takes too long is not ended. */
async function movableRun(input: BashInput, context: ToolContext): Promise<MovableRun> {
  const { runMovable } = await import("./move-to-background.ts");
  return (command) => runMovable(command, input, context);
}

async function checkPlace(place: Place, workspace: Workspace): Promise<string[]> {
  // Without the file commands still run, only `cd` is forgotten: a full disk must not keep anyone from making room.
  place.record ??= await workspace.saveOverflow("working-directory", "").catch(() => undefined);
  const before = place.directory;
  if ((await workspace.stat(before).catch(() => undefined))?.kind === "directory") return [];
  place.directory = workspace.root;
  return [`(The working directory ${before} no longer exists; the command was run in ${workspace.root}.)`];
}

/**
 * The command runs inside `eval`, so that neither a syntax error nor an open quote or here-document in it can reach the lines around.
 * The shell's last directory is written twice: after the `eval`, for commands that set an EXIT trap of their own, which replaces ours
 * and still runs; and in our EXIT trap, for commands that end the shell themselves (`exit`, `set -e`, `${x:?}`).
 * When neither comes about (`exec`, SIGKILL, an own trap together with `exit`), the directory stays what it was before.
 * The redirections keep `set -x` and DEBUG traps from showing these lines.
 */
async function scriptFor({
  command,
  place,
  workspace,
  git,
}: {
  command: string;
  place: Place;
  workspace: Workspace;
  git: InertGit | undefined;
}): Promise<string> {
  // Most commands stay where they are, and then there is nothing to write or read.
  const remember = `[[ $PWD == ${quote(place.directory)} ]] || builtin pwd >| ${quote(place.record ?? "/dev/null")} || :`;
  const quoted = quoteOnOneLine(command);
  const fits = Buffer.byteLength(quoted) < maxArgumentBytes;
  const source = fits ? quoted : `"$(< ${quote(await workspace.saveOverflow("command.sh", command))})"`;
  return [
    "exec 2>&1", // one pipe: lines of both streams keep their order
    ...(git ? [findGit(git)] : []),
    `trap ${quote(`{ ${remember}; } > /dev/null 2>&1`)} EXIT`,
    `eval ${source}`,
    `{ outrider_status=$?; trap - DEBUG ERR; set +xv; ${remember}; } > /dev/null 2>&1`,
    "exit $outrider_status",
    // On one line: bash counts those of the command from it, and has read all of it before a command with an open end upsets its parser.
  ].join("; ");
}

/** As a function that cannot be taken away where programs a rule names must find their own git. */
function findGit({ folder, reach, ruled }: InertGit): string {
  if (ruled) return [refuseBare, ...(folder === undefined ? [] : [findGit({ folder, reach })])].join("; ");
  if (folder === undefined) return ":";
  if (reach === "shell") return `git() { ${quote(`${folder}/git`)} "$@"; }; readonly -f git`;
  const gone = "outrider: nothing was run: the git for commands nobody was asked about is gone";
  return `[[ -x ${quote(`${folder}/git`)} ]] || { echo ${quote(gone)}; exit 126; }; unset BASH_ENV; export PATH=${quote(folder)}:"$PATH"`;
}

/** Behind whatever configuration the environment has already, and not to be unset. */
const refuseBare = `declare -rx GIT_CONFIG_COUNT=$((\${GIT_CONFIG_COUNT:-0} + 1)) "GIT_CONFIG_KEY_\${GIT_CONFIG_COUNT:-0}=safe.bareRepository" "GIT_CONFIG_VALUE_\${GIT_CONFIG_COUNT:-0}=explicit"`;

/** Where the next command starts, and every path with it; what is to be said when that is another place than before. */
async function followShell(place: Place, { workspace, roots = [] }: ToolContext): Promise<string | undefined> {
  if (place.record === undefined) return undefined;
  try {
    const note = await workspace.stat(place.record);
    if (note?.size === 0 || note?.mtimeMs === place.readAt) return undefined; // the command stayed where it was
    place.readAt = note?.mtimeMs ?? 0;
    const directory = new TextDecoder().decode(await workspace.readFile(place.record)).replace(/\n$/, "");
    if (!directory.startsWith("/") || directory === place.directory) return undefined;
    const real = await workspace.resolve(directory);
    const isOurs = [workspace.root, ...roots].some((root) => isInside(root, real));
    place.directory = isOurs ? directory : workspace.root;
    return isOurs
      ? `(The working directory is ${directory} now.)`
      : `(${directory} is outside of the project: the working directory is ${workspace.root}.)`;
  } catch {
    place.record = undefined; // somebody cleaned up; the next call makes a new one
    return undefined;
  }
}

async function report(facts: {
  result: RunResult;
  output: CommandOutput;
  notices: string[];
  moved: string | undefined;
  timeoutMs: number;
  workspace: Workspace;
  place: PlaceFacts | undefined;
  limits: Limits;
}): Promise<ToolOutput> {
  const { result, notices, moved, place, limits } = facts;
  const end = lastLine(result, facts.timeoutMs, limits);
  const { where, reason } =
    end && place ? (await import("./builtin/place-notes.ts")).placeNotes(place, facts.output.latest(noticedCharacters)) : {};
  const ending = end && [end, where, reason].filter(Boolean).join(" ");
  const last = [moved, ending].filter(Boolean).join("\n");
  const frame = [...notices, ...(last ? [last] : [])].join("\n").length + 2;
  const { text, ...saved } = await facts.output.finish({
    limit: Math.max(0, limits.outputCharacters - frame),
    save: (text) => facts.workspace.saveOverflow("bash-output.txt", text),
  });
  const whole = [...notices, text.replace(/\n+$/, "").replace(ownWords, "$1") || "(no output)", ...(last ? [last] : [])].join(
    "\n",
  );
  const exitCode = exitCodeOf(result);
  const details: ToolDetails = { ...defined({ exitCode }), ...saved };
  if (result.end === "aborted") throw new ToolFailure(whole, { details });
  const warning = reason && `A command failed${where ? " in the sandbox" : ""}. ${reason}`;
  return { content: [{ type: "text", text: whole }], isError: end !== undefined, details, warning };
}

function lastLine(result: RunResult, timeoutMs: number, { maxTimeoutMs }: Limits): string | undefined {
  switch (result.end) {
    case "exit":
      return result.exitCode === 0 ? undefined : `Exit code ${result.exitCode}`;
    case "signal":
      return `The shell was ended by ${result.signal}. Exit code ${exitCodeOf(result) ?? "unknown"}`;
    case "timeout":
      return `Stopped after ${timeoutMs} ms, the time limit; the processes of the command were ended. ${longer(timeoutMs, maxTimeoutMs)}`;
    case "aborted":
      return "Interrupted; the processes of the command were ended.";
  }
}

function longer(timeoutMs: number, most: number): string {
  const more = timeoutMs < most ? `give a timeout of up to ${most} ms, or ` : "";
  return `If it needs longer, ${more}run it with run_in_background.`;
}

function exitCodeOf(result: RunResult): number | undefined {
  if (result.end === "exit") return result.exitCode;
  if (result.end !== "signal") return undefined;
  const number = Object.entries(constants.signals).find(([name]) => name === result.signal)?.[1];
  return number === undefined ? undefined : 128 + number;
}

/** At most one report per interval, and the last words before a silence are among them. */
function reportProgress(output: CommandOutput, context: ToolContext): { changed(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    changed(): void {
      timer ??= setTimeout(() => {
        timer = undefined;
        context.progress(output.latest(progressCharacters));
      }, progressIntervalMs);
    },
    stop: () => clearTimeout(timer),
  };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** As bash reads `$'…'`: a text of several lines on one. */
function quoteOnOneLine(text: string): string {
  return `$'${text.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n")}'`;
}

/** Bash names what reads the command: a person who types it never sees that. */
const ownWords = /^(bash: )eval: (?=line \d+: )/gm;
