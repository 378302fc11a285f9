/** The machine the agent works on. Every file and process effect goes through here, so that it can be remote, boxed or fake. */
export interface Workspace {
  /** Absolute real path of the directory the session was started in. */
  readonly root: string;
  /** Absolute path with every symbolic link resolved, also for a file that does not exist yet; relative paths start at `root`, `~/` at the home directory. */
  resolve(path: string): Promise<string>;
  /** Undefined when there is nothing at `path`. */
  stat(path: string, use?: PathUse): Promise<FileStat | undefined>;
  /** Regular files only; a device, socket or pipe is refused, and so is a file above `maxBytes`. */
  readFile(path: string, options?: ReadUse): Promise<Uint8Array>;
  /** Whole or not at all: a reader never sees half a file. Creates parent directories; keeps the mode bits of a file that was there. */
  writeFile(path: string, content: Uint8Array | string, use?: WriteUse): Promise<void>;
  /** Removes one regular file. */
  removeFile(path: string, use?: PathUse): Promise<void>;
  readDirectory(path: string, use?: PathUse): Promise<DirectoryEntry[]>;
  /** Runs one program to its end. Rejects only when it could not be started. */
  run(command: RunCommand): Promise<RunResult>;
  /** Starts one program that may live for as long as this workspace. Rejects when it could not be started. */
  start(command: StartCommand): Promise<RunningProcess>;
  /**
   * The same machine from another folder: paths start there, its box protects that folder, and what is started there is its own.
   * It ends with this one, or before.
   */
  at(root: string): Promise<Workspace>;
  /** A new file for output that is too long to show, or that cannot be shown; answers its path. */
  saveOverflow(name: string, content: string | Uint8Array): Promise<string>;
  /** Ends every process this workspace started and that still lives. */
  close(): Promise<void>;
  /** After `close`: the command lines of what commands had left in the background, and what was ended with it. */
  stopped?(): readonly string[];
  /** Whether all that is started here ends with our own process, also when that is killed. Some may live on when absent. */
  endsProcesses?(): Promise<boolean>;
  /** Whether a program lives in a box from which it could make a path lead elsewhere for what runs outside. None does when absent. */
  mayPathsMove?(): boolean;
  /** As if a program printed a line for each change of a file, or of what a folder holds. Absent where nobody can tell. */
  watch?(path: string, onOutput: NonNullable<ProgramCommand["onOutput"]>): Promise<RunningProcess>;
}

/**
 * `exact`: the path is absolute and real, and means just that. A link that has taken a place in it is refused, not followed;
 * the check is made on what was opened, so that a swap in between is seen too.
 */
export type PathUse = { readonly exact?: true };

/** `unsaved`: where an editor has the file open, its text counts, whether it is saved or not. */
export type ReadUse = PathUse & { readonly maxBytes?: number; readonly unsaved?: true };

/**
 * `over`: the file as it was when its content was made up, or `null` where there was none. When it is another one by now, nothing is written,
 * and the call rejects with `busy`. Machines that cannot tell write all the same.
 */
export type WriteUse = PathUse & { readonly over?: FileStat | null | undefined };

/** `inode`: a file that was replaced has another one; absent on machines that do not tell. */
export type FileStat = {
  kind: "file" | "directory" | "other";
  size: number;
  mtimeMs: number;
  mode: number;
  inode?: number | undefined;
};
export type DirectoryEntry = { name: string; kind: "file" | "directory" | "symlink" | "other" };

/** `outside` is where the user's own programs run, as the user; `box` is the sandbox. */
export type RunPlace = "outside" | "box";

/** A program, and where it is to run. */
export type ProgramCommand = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Files the program must be able to write wherever they lie; a sandbox opens them. */
  readonly writes?: readonly string[] | undefined;
  /** Where it is to run when there is a box: `outside` is for what the user has let run, by a rule or a yes; in the box when absent. */
  readonly place?: RunPlace | undefined;
  /** The call it is run for, whose user may watch it. */
  readonly callId?: string | undefined;
  /** Nobody has said anything about it, the mode alone lets it run: `parts` when a rule names some of its programs. */
  readonly unasked?: "whole" | "parts" | undefined;
  /** Its TMPDIR is the session's own folder, which goes with the session. A box has one anyway. */
  readonly ownTemporary?: true | undefined;
  /** Not in the sandbox. For programs the user has named, such as hooks; never for what a model asked for. */
  readonly unboxed?: true | undefined;
  /** Another one will follow that differs in its script only: it may be started ahead of that. The script is whole: bash can read all of it. */
  readonly isRepeated?: true | undefined;
  /** Told before it starts where it really runs, and with what. */
  readonly onPlace?: ((facts: PlaceFacts) => void) | undefined;
  /**
   * Nothing more is read of a stream until the promise of its last chunk settles, so that a program which prints faster than we can
   * store has to wait. A promise that rejects ends the program.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined;
};

export type OutputChunk = { readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array };

export type RunCommand = ProgramCommand & {
  readonly input?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export type StartCommand = ProgramCommand & {
  /** Its standard input is open for `write`; it is empty when absent. */
  readonly takesInput?: boolean | undefined;
  /** Kills it. */
  readonly signal?: AbortSignal | undefined;
};

/** A program that was started and has perhaps ended since. */
export interface RunningProcess {
  /** On the machine where it runs. Undefined where that machine does not tell. */
  readonly pid: number | undefined;
  /**
   * How the program itself ended, once all its output was told: what it left in the background is not waited for, and closing its
   * output does not end it. `aborted` when it was killed. Rejects when `onOutput` did.
   */
  readonly ended: Promise<ProcessEnd>;
  /** Settles when the program's input has taken all of it; false when the program reads no more. */
  write(data: string | Uint8Array): Promise<boolean>;
  /** The program reads the end of its input once it has read what was written. */
  endInput(): void;
  /** Ends the program and everything it started, also what it left in the background; settles when that is gone. */
  kill(): Promise<void>;
}

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

/** `exit` and `signal` are the program's own end; `aborted` means that it was killed, with everything it started. */
export type ProcessEnd =
  | { readonly end: "exit"; readonly exitCode: number }
  | { readonly end: "signal"; readonly signal: string }
  | { readonly end: "aborted" };

/** `timeout` means `aborted`, by the clock. */
export type RunResult = ProcessEnd | { readonly end: "timeout" };
