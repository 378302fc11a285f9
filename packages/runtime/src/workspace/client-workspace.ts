import { posix } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { clientFiles } from "./client-files.ts";
import { leadsElsewhere } from "./exact-path.ts";
import { type OtherRoot, withOtherRoots } from "./other-roots.ts";
import { closedWorkspace, neverStarted } from "./run-to-end.ts";
import { type SandboxClient, type SandboxRunResult, shellWord } from "./sandbox-client.ts";
import type { PathUse, ProgramCommand, RunCommand, RunningProcess, RunResult, Workspace } from "./workspace.ts";
import { defined } from "../util/defined.ts";
import { messageOf } from "../util/message-of.ts";

export type ClientWorkspaceOptions = {
  readonly client: SandboxClient;
  /** Absolute; `/workspace` when absent. */
  readonly root?: string;
  /** For outputs too long to show; on the other machine. */
  readonly overflowDirectory?: string;
  /** This machine, for programs that are not to run in the sandbox. */
  readonly local?: Workspace;
};

export const defaultClientRoot = "/workspace";
const defaultMaxBytes = 256 * 1024 * 1024;
/** So that the other machine does not end a command before we call it late. */
const clientGraceMs = 5_000;

/** Another machine as a workspace: every tool works there and none on this one. */
export function createClientWorkspace(options: ClientWorkspaceOptions): Workspace {
  const { client, root = defaultClientRoot } = options;
  if (!root.startsWith("/")) throw new RuntimeError("config", `The root of a sandbox is an absolute path, not "${root}".`);
  const overflowDirectory = options.overflowDirectory ?? "/tmp/outrider-overflow";
  const files = clientFiles(client);
  const closing = new AbortController();
  const running = new Set<RunningProcess>();
  const absolute = (path: string): string => posix.resolve(root, path);
  /** The machine is the session's, and so is its /tmp. */
  const placed = <Command extends ProgramCommand>(command: Command): Command & { cwd: string } => ({
    ...command,
    cwd: absolute(command.cwd ?? "."),
    ...(command.ownTemporary && { env: { TMPDIR: "/tmp", ...command.env } }),
  });
  /** The machine is asked where the path leads; nothing can be held open over there. */
  const requireReal = async (path: string, use: PathUse | undefined): Promise<void> => {
    if (use?.exact && (await files.realPath(path)) !== path) throw leadsElsewhere(path);
  };

  const workspace: Omit<Workspace, "at"> = {
    root,
    async resolve(path) {
      if (path === "") throw new RuntimeError("usage", "The path is empty.");
      if (path.includes("\0")) throw new RuntimeError("usage", "The path holds a NUL character. Give it without.");
      return files.realPath(
        path === "~" || path.startsWith("~/") ? posix.join(await files.home(), path.slice(1)) : absolute(path),
      );
    },
    stat: (path) => files.stat(absolute(path)),
    async readFile(path, { maxBytes = defaultMaxBytes, ...use } = {}) {
      const full = absolute(path);
      const stat = await files.stat(full);
      if (!stat) throw new RuntimeError("not-found", `${full} does not exist.`);
      if (stat.kind !== "file") throw new RuntimeError("usage", `${full} is not a regular file.`);
      if (stat.size > maxBytes)
        throw new RuntimeError(
          "usage",
          `${full} is too large to be read whole: ${stat.size} bytes, and ${maxBytes} are allowed.`,
        );
      const content = await client.readFile(full);
      await requireReal(full, use);
      return typeof content === "string" ? new TextEncoder().encode(content) : content;
    },
    async writeFile(path, content, use) {
      await requireReal(absolute(path), use);
      await client.writeFile(absolute(path), content);
    },
    async removeFile(path, use) {
      const full = absolute(path);
      const stat = await files.stat(full);
      if (!stat) throw new RuntimeError("not-found", `${full} does not exist.`);
      if (stat.kind !== "file") throw new RuntimeError("usage", `${full} is not a regular file.`);
      await requireReal(full, use);
      const { exitCode, stderr } = await client.run(`rm -f -- ${shellWord(full)}`, { cwd: root });
      if (exitCode !== 0)
        throw new RuntimeError("usage", `${full} could not be removed: ${stderr.trim() || `exit code ${exitCode}`}`);
    },
    async readDirectory(path, use) {
      const entries = await files.readDirectory(absolute(path));
      await requireReal(absolute(path), use);
      return entries;
    },
    async run(command) {
      if (command.unboxed && options.local) return options.local.run(command);
      if (closing.signal.aborted) throw closedWorkspace();
      return runOn(client, placed(command), { closing: closing.signal, overflowDirectory });
    },
    async start(command) {
      if (command.unboxed && options.local) return await options.local.start(command);
      if (closing.signal.aborted) throw closedWorkspace();
      if (command.signal?.aborted) return neverStarted();
      const { startOn } = await import("./client-process.ts");
      const program = await startOn(client, placed(command));
      running.add(program);
      program.ended.finally(() => running.delete(program)).catch(() => {}); // the failure is for whoever asks
      if (closing.signal.aborted) await program.kill();
      return program;
    },
    async saveOverflow(name, content) {
      const { name: stem, ext } = posix.parse(name.replaceAll(/[^\w.-]+/g, "-").replace(/^[.-]+/, ""));
      const path = posix.join(overflowDirectory, `${stem}-${randomUuid().slice(0, 8)}${ext}`);
      await client.writeFile(path, content);
      return path;
    },
    async close() {
      closing.abort();
      await Promise.allSettled([...running].map((program) => program.kill()));
      await options.local?.close();
    },
  };
  const { local: _, ...others } = options; // whose programs end with it, not with another root
  const open = async (other: OtherRoot): Promise<Workspace> => createClientWorkspace({ ...others, ...other });
  return withOtherRoots<Workspace>(workspace, { overflowDirectory, open });
}

async function runOn(
  client: SandboxClient,
  command: RunCommand & { cwd: string },
  { closing, overflowDirectory }: { closing: AbortSignal; overflowDirectory: string },
): Promise<RunResult> {
  const stopped = AbortSignal.any([command.signal, closing]);
  if (stopped.aborted) return { end: "aborted" };
  const input = command.input === undefined ? undefined : posix.join(overflowDirectory, `input-${randomUuid()}`);
  if (input !== undefined) await client.writeFile(input, command.input ?? "");
  const words = [command.file, ...command.args].map(shellWord).join(" ");
  const heard = { stdout: false, stderr: false };
  const hear = (stream: "stdout" | "stderr") => (text: string) => {
    heard[stream] = true;
    void command.onOutput?.({ stream, bytes: new TextEncoder().encode(text) });
  };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(command.timeoutMs, 2 ** 31 - 1));
  const signal = AbortSignal.any([stopped, late.signal]);
  try {
    const running = client.run(
      input === undefined ? words : `${words} < ${shellWord(input)}; status=$?; rm -f ${shellWord(input)}; exit $status`,
      {
        cwd: command.cwd,
        ...defined({ env: command.env }),
        timeoutMs: command.timeoutMs + clientGraceMs,
        signal,
        onStdout: hear("stdout"),
        onStderr: hear("stderr"),
      },
    );
    // A client that cannot end a command must not hold us; what becomes of its promise then is nobody's concern.
    const result = await Promise.race([running, whenAborted(signal)]);
    if (result === undefined || signal.aborted) return { end: stopped.aborted ? "aborted" : "timeout" };
    for (const stream of ["stdout", "stderr"] as const) if (!heard[stream] && result[stream] !== "") hear(stream)(result[stream]);
    return { end: "exit", exitCode: result.exitCode };
  } catch (error) {
    if (signal.aborted) return { end: stopped.aborted ? "aborted" : "timeout" };
    throw error instanceof RuntimeError
      ? error
      : new RuntimeError("usage", `The sandbox could not run the command: ${wordsOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function whenAborted(signal: AbortSignal): Promise<SandboxRunResult | undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
}

function wordsOf(error: unknown): string {
  return messageOf(error);
}
