import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { defined } from "../util/defined.ts";
import type { HookAction } from "./hook.ts";

export type CommandEnd = {
  readonly end: "exit" | "timeout" | "aborted" | "failed";
  readonly exitCode?: number;
  /** Why it could not run, or what killed it. */
  readonly problem?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes of standard output that were left out. */
  readonly lost: number;
};

type CommandRun = {
  readonly workspace: Workspace;
  readonly action: HookAction & { type: "command" };
  /** What stands on its standard input, as JSON. */
  readonly input: JsonObject;
  /** Where it may set variables for later commands. */
  readonly exportsFile: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Its first line said that it goes on by itself. */
  onDetached(): void;
};

const maxStdout = 1024 * 1024;
const maxStderr = 64 * 1024;

/** What the call is about goes in on standard input only: nothing of it is ever part of a command line. */
export async function runCommandHook(run: CommandRun): Promise<CommandEnd> {
  const { workspace, action, input, timeoutMs, signal } = run;
  const stdout = new CappedText(maxStdout);
  const stderr = new CappedText(maxStderr);
  let firstLineSeen = false;
  const written = (): Pick<CommandEnd, "stdout" | "stderr" | "lost"> => ({
    stdout: stdout.text(),
    stderr: stderr.text(),
    lost: stdout.lost,
  });
  try {
    const result = await workspace.run({
      // Node's pipes are sockets, and bash takes a socket for a remote login that wants its ~/.bashrc.
      unboxed: true, // the user's own, and trusted: it may need what commands of the model must not reach
      ...(action.args
        ? withProject({ file: action.command, args: action.args }, workspace.root)
        : { file: "bash", args: ["--norc", "-c", action.command] }),
      env: {
        ...action.env,
        ...variablesOf(input),
        ...defined({ CLAUDE_ENV_FILE: run.exportsFile }),
        CLAUDE_PROJECT_DIR: workspace.root,
        OUTRIDER_PROJECT_DIR: workspace.root,
      },
      input: `${JSON.stringify(input)}\n`,
      timeoutMs,
      signal,
      onOutput(chunk) {
        if (chunk.stream === "stderr") return stderr.add(chunk.bytes);
        stdout.add(chunk.bytes);
        if (firstLineSeen || !chunk.bytes.includes(newline)) return;
        firstLineSeen = true;
        if (saysAsync(stdout.text())) run.onDetached();
      },
    });
    if (result.end === "exit") return { end: "exit", exitCode: result.exitCode, ...written() };
    if (result.end === "signal") return { end: "failed", problem: `it was killed by ${result.signal}`, ...written() };
    return { end: result.end, ...written() };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return { end: "failed", problem: error.message, ...written() };
  }
}

/** No shell puts the variable's value in its place here. */
function withProject({ file, args }: { file: string; args: readonly string[] }, root: string): { file: string; args: string[] } {
  const fill = (text: string): string => text.replaceAll(/\$\{(?:CLAUDE|OUTRIDER)_PROJECT_DIR\}/g, () => root);
  return { file: fill(file), args: args.map(fill) };
}

/** What hooks written for Claude Code find in their environment; all of it is in the input too. */
function variablesOf({ session_id: sessionId, effort }: JsonObject): Record<string, string> {
  const level = isJsonObject(effort) ? effort["level"] : undefined;
  return {
    CLAUDECODE: "1",
    CLAUDE_CODE_CHILD_SESSION: "1",
    CLAUDE_CODE_SESSION_ID: String(sessionId ?? ""),
    ...(typeof level === "string" && { CLAUDE_EFFORT: level }),
  };
}

const newline = 10;

/** `{"async": true}` as the first line, before the rest is written. */
export function saysAsync(output: string): boolean {
  const [line = ""] = output.split("\n", 1);
  if (!line.includes('"async"') || line.length > 1000) return false;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "async" in value && value.async === true;
  } catch {
    return false;
  }
}

/** Keeps the beginning of an output and counts the rest. */
class CappedText {
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];
  #kept = 0;
  lost = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: Uint8Array): void {
    const room = bytes.subarray(0, this.#limit - this.#kept);
    if (room.length > 0) this.#chunks.push(room);
    this.#kept += room.length;
    this.lost += bytes.length - room.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
