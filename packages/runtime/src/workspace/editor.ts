import type { ProcessEnd } from "./workspace.ts";

/** A program of the user's on this machine that has files open, perhaps with text that is not saved, and terminals to show. */
export interface Editor {
  /** Is this file a part of what it has open? A real path. */
  covers(path: string): boolean;
  /** The text as it is shown there. Rejects where the editor does not know the file. */
  readText?: ((path: string) => Promise<string>) | undefined;
  /** Rejects with `busy` when nobody knows whether it was written, and with anything else when it was not. */
  writeText?: ((path: string, text: string) => Promise<void>) | undefined;
  /** Starts a program where the user sees it. Rejects when nothing was started. */
  openTerminal?: ((program: TerminalProgram) => Promise<EditorTerminal>) | undefined;
  /** Names of variables that programs do not get, which the editor's own terminals may have. */
  readonly withheld: readonly string[];
}

export type TerminalProgram = {
  /** The call that the program is run for. */
  readonly callId: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

export interface EditorTerminal {
  /** What it holds now: everything, or the end of it where `isCut`. */
  output(): Promise<{ readonly text: string; readonly isCut: boolean }>;
  readonly ended: Promise<Exclude<ProcessEnd, { end: "aborted" }>>;
  kill(): Promise<void>;
  /** Nobody needs it any more; the user goes on seeing what it showed. */
  release(): Promise<void>;
}
