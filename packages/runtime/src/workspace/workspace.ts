/** The machine the agent works on. Every file and process effect goes through here, so that it can be remote, boxed or fake. */
export interface Workspace {
  /** Absolute real path of the directory the session was started in. */
  readonly root: string;
  /** Absolute path with every symbolic link resolved, also for a file that does not exist yet; relative paths start at `root`, `~/` at the home directory. */
  resolve(path: string): Promise<string>;
  /** Undefined when there is nothing at `path`. */
  stat(path: string, use?: PathUse): Promise<FileStat | undefined>;
  /** Regular files only; a device, socket or pipe is refused, and so is a file above `maxBytes`. */
  readFile(path: string, options?: PathUse & { maxBytes?: number }): Promise<Uint8Array>;
  /** Whole or not at all: a reader never sees half a file. Creates parent directories; keeps the mode bits of a file that was there. */
  writeFile(path: string, content: Uint8Array | string, use?: PathUse): Promise<void>;
  readDirectory(path: string, use?: PathUse): Promise<DirectoryEntry[]>;
  /** Runs one program to its end. Rejects only when it could not be started. */
  run(command: RunCommand): Promise<RunResult>;
  /** A new file for output that is too long to show; answers its path. */
  saveOverflow(name: string, content: string): Promise<string>;
  /** Ends every process this workspace started and that still lives. */
  close(): Promise<void>;
  /** After `close`: the command lines of what commands had left in the background, and what was ended with it. */
  stopped?(): readonly string[];
}

/**
 * `exact`: the path is absolute and real, and means just that. A link that has taken a place in it is refused, not followed;
 * the check is made on what was opened, so that a swap in between is seen too.
 */
export type PathUse = { readonly exact?: true };

export type FileStat = { kind: "file" | "directory" | "other"; size: number; mtimeMs: number; mode: number };
export type DirectoryEntry = { name: string; kind: "file" | "directory" | "symlink" | "other" };

/** `outside` is where the user's own programs run, as the user; `box` is the sandbox. */
export type RunPlace = "outside" | "box";

export type RunCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Files the program must be able to write wherever they lie; a sandbox opens them. */
  readonly writes?: readonly string[];
  /** Where it is to run when there is a box: `outside` is for what the user has let run, by a rule or a yes; in the box when absent. */
  readonly place?: RunPlace | undefined;
  /** Nobody has said anything about it, the mode alone lets it run: `parts` when a rule names some of its programs. */
  readonly unasked?: "whole" | "parts" | undefined;
  /** Not in the sandbox. For programs the user has named, such as hooks; never for what a model asked for. */
  readonly unboxed?: true;
  /** The program holds everything it starts: its own end would be theirs, without warning, so they are asked to end first. */
  readonly holdsOthers?: true;
  /** Makes it a program that waits for orders on its standard input; its own input, if any, has the number 3. Of this machine only. */
  onStart?(program: StartedProgram): void;
  /** Told before it starts where it really runs, and with what. */
  onPlace?(facts: PlaceFacts): void;
  onOutput?(chunk: { stream: "stdout" | "stderr"; bytes: Uint8Array }): void;
};

/** A program that was started ahead of its work. */
export type StartedProgram = {
  /** Undefined when it could not be started: `run` rejects then. */
  readonly pid: number | undefined;
  /** To its standard input, which `close` ends. */
  write(text: string): void;
  close(): void;
  /** At once and unasked. What it holds goes with it. */
  kill(): void;
  /** Whether our own process stays for it. */
  hold(isHeld: boolean): void;
};

export type PlaceFacts = {
  readonly place: RunPlace;
  readonly network: NetworkReach;
  /** Names of the user's variables that it does not get. */
  readonly withheld: readonly string[];
  /** In the box: it would have run outside, had the user let it run. */
  readonly mayLeave?: boolean;
};

/** `domains`: only those that are listed. */
export type NetworkReach = "none" | "domains" | "open";

/** `exit` is the program's own end; `timeout` and `aborted` mean that its whole process group was killed. */
export type RunResult =
  | { readonly end: "exit"; readonly exitCode: number }
  | { readonly end: "signal"; readonly signal: string }
  | { readonly end: "timeout" }
  | { readonly end: "aborted" };
