import type { DirectoryEntry, FileStat } from "./workspace.ts";
import type { WorkspaceManifest } from "./workspace-manifest.ts";

/**
 * A machine somewhere else: a container, a micro VM, a service. Whoever makes it also ends it.
 * Paths are absolute and POSIX. The optional parts are done with shell commands where they are missing.
 */
export interface SandboxClient {
  /** Runs a command line with a POSIX shell, to its end. Rejects only when it could not be run. */
  run(command: string, options?: SandboxRunOptions): Promise<SandboxRunResult>;
  /** Starts a command line that goes on. Absent where the machine only runs commands to their end. */
  start?(command: string, options: SandboxStartOptions): Promise<SandboxProcess>;
  /** Rejects when there is no such file. Bytes, unless the file is known to be text. */
  readFile(path: string): Promise<Uint8Array | string>;
  /** Creates parent directories; takes the place of a file that was there. */
  writeFile(path: string, content: Uint8Array | string): Promise<void>;
  makeDirectory?(path: string): Promise<void>;
  /** Undefined when there is nothing. */
  stat?(path: string): Promise<FileStat | undefined>;
  readDirectory?(path: string): Promise<DirectoryEntry[]>;
  /** Fills a fresh workspace in its own way; the entries have been checked. */
  applyManifest?(manifest: WorkspaceManifest, options: { readonly hostRoot: string }): Promise<void>;
  /** Keeps the whole state and answers under which id. */
  snapshot?(): Promise<string>;
  restore?(snapshotId: string): Promise<void>;
}

export type SandboxRunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The command is to be ended. */
  readonly signal?: AbortSignal;
  onStdout?(text: string): void;
  onStderr?(text: string): void;
};

export type SandboxStartOptions = Pick<SandboxRunOptions, "cwd" | "env" | "onStdout" | "onStderr"> & {
  /** The command's standard input is to be open for `write`. */
  readonly takesInput?: boolean;
};

/** A command of the other machine that goes on. */
export interface SandboxProcess {
  readonly pid?: number | undefined;
  /** Settles when the command itself has ended. */
  readonly ended: Promise<{ readonly exitCode: number }>;
  /** Rejects when the command reads no more. */
  write?(text: string): Promise<void>;
  endInput?(): Promise<void>;
  /** The command itself; what it has started is looked for by whoever asks. */
  kill(): Promise<void>;
}

/** Both streams whole, whether or not they were also handed over piece by piece. */
export type SandboxRunResult = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** One word of a shell command line, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w/.:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
