import { type ChangedSince, changesSince } from "./changes-since.ts";
import { oneAtATime } from "../util/one-at-a-time.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { FileState } from "./file-state.ts";
import type { Checkpoint, UncoveredCommand } from "./history.ts";
import { type RestorePlan, showPath, uncoveredReason } from "./plan.ts";
import { type Recovery, recoverRestore } from "./recover.ts";
import { type Capture, type PastTurn, Recorder, type TurnStart } from "./recorder.ts";
import { findCheckpoint, loadHistory, planFor, type RestoreKind, type RestoreResult, runRestore } from "./restore.ts";
import { type RewindFilesResult, rewindFiles } from "./rewind-files.ts";
import { type FolderOptions, sessionFolder } from "./session-folder.ts";
import { defined } from "../util/defined.ts";

export type CheckpointOptions = FolderOptions & {
  /** The folder the session works in; paths below it are shown from there. */
  readonly root?: string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Applied to prompts and commands before they are stored. */
  readonly redact?: (text: string) => string;
  /** Commands run in a worktree or a sandbox of their own: nothing they do needs to be undone here. */
  readonly isolation?: "none" | "worktree" | "provider-sandbox";
};

export type RestoreOptions = {
  readonly force?: boolean;
  readonly dryRun?: boolean;
  /** Asked before anything is changed, with the real paths of all that would be; throws where they may not be. */
  readonly mayChange?: ((paths: readonly string[]) => Promise<void>) | undefined;
};

export type RewindOptions = {
  readonly dryRun?: boolean;
  /** Told what was done, in more words than the answer has. */
  readonly onRestored?: (result: RestoreResult) => void;
};

export type CheckpointSummary = {
  readonly id: string;
  readonly sequence: number;
  readonly kind: Checkpoint["kind"];
  readonly at: string;
  readonly turnId?: string;
  readonly userMessageId?: string;
  readonly prompt?: string;
  /** Of a restore or rollback: where it went back to, and whether it got there. */
  readonly target?: string;
  readonly progress?: Checkpoint["progress"];
  readonly fileCount: number;
  /** Shell commands whose changes are not covered. */
  readonly commandCount: number;
};

export type CheckpointFile = {
  readonly path: string;
  readonly shown: string;
  readonly before: FileState;
  /** What was there can be put back. */
  readonly available: boolean;
  /** Why not, where no copy was kept. */
  readonly reason?: string;
};

export type CheckpointInspection = {
  readonly checkpoint: CheckpointSummary;
  readonly files: readonly CheckpointFile[];
  readonly commands: readonly UncoveredCommand[];
  /** Undoes what came after the checkpoint. */
  readonly restore: RestorePlan;
  /** Undoes the checkpoint too. */
  readonly rollback: RestorePlan;
};

/** The files a session changed, as they were before each turn. Works on this machine's files; never runs git. */
export interface Checkpoints {
  /** Forgets nothing and writes nothing yet. */
  beginTurn(turn: TurnStart): void;
  endTurn(): Promise<void>;
  /** Turns that changed nothing, oldest first, so that they too can be named as the one to go back to. What is on record already stays. */
  noteTurns(turns: readonly PastTurn[]): Promise<void>;
  /** `capture`, `write`, `recordWritten`. When the copy cannot be kept it rejects, and `write` is not called. */
  protect<T>(path: string, content: Uint8Array | string | undefined, write: (capture: Capture) => Promise<T>): Promise<T>;
  /**
   * Keeps what is at the real path `path`. Await it before changing the file; when it rejects, do not change it.
   * With `content`, what is about to be written, even a crash in the middle leaves no doubt about whose change it was.
   */
  capture(path: string, content?: Uint8Array | string): Promise<Capture>;
  recordWritten(path: string): Promise<void>;
  /** A shell command is about to run; whatever it changes is not covered. */
  noteUncovered(callId: string, command: string): Promise<void>;
  list(): Promise<CheckpointSummary[]>;
  inspect(id: string): Promise<CheckpointInspection>;
  /** Files that are not as they were when the session first changed them. */
  changes(): Promise<ChangedSince[]>;
  /** Puts the files as the checkpoint left them: undoes everything after it. */
  restoreTo(id: string, options?: RestoreOptions): Promise<RestoreResult>;
  /** Puts the files as they were before the checkpoint: undoes it and everything after it. */
  rollbackThrough(id: string, options?: RestoreOptions): Promise<RestoreResult>;
  /** `rollbackThrough` without force, in the words of the SDK's `rewind_files`; `id` may be a turn or user message. Never rejects. */
  rewindFiles(id: string, options?: RewindOptions): Promise<RewindFilesResult>;
  /** Ends a restore that was cut off in the middle; undefined when there is none. The next restore completes it by itself. */
  recover(how: "complete" | "undo"): Promise<Recovery | undefined>;
}

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const folder = sessionFolder(options);
  const now = options.now ?? Date.now;
  const redact = options.redact ?? ((text: string) => text);
  const recorder = new Recorder({ folder, now, redact, ...defined({ root: options.root }) });
  const inOrder = oneAtATime();
  const isIsolated = (options.isolation ?? "none") !== "none";

  const whileIdle = async <T>(work: () => Promise<T>): Promise<T> => {
    if (recorder.inTurn) throw new RuntimeError("busy", "Files cannot be restored while a turn is running", { retryable: true });
    await recorder.end(); // background work may hold the lock
    const lock = await folder.lock();
    try {
      return await work();
    } finally {
      lock.release();
    }
  };
  const restore = (kind: RestoreKind, target: string, { force = false, dryRun = false, mayChange }: RestoreOptions = {}) => {
    const run = () => runRestore(folder, { kind, target, force, dryRun, mayChange, now });
    return inOrder(() => (dryRun ? run() : whileIdle(run)));
  };
  /** Background work after a turn keeps the lock for no longer than it takes. */
  const settled = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } finally {
      if (!recorder.inTurn) await recorder.end();
    }
  };

  return {
    beginTurn: (turn) => recorder.begin(turn),
    endTurn: () => inOrder(() => recorder.end()),
    async noteTurns(turns) {
      const noted = isIsolated ? turns.map(({ commands: _, ...turn }) => turn) : turns;
      await inOrder(() => settled(recorder.noteTurns(noted)));
    },
    protect: (path, content, write) => inOrder(() => settled(protect(recorder, { path, content, write }))),
    capture: (path, content) => inOrder(() => recorder.capture(path, content)),
    recordWritten: (path) => inOrder(() => settled(recorder.recordWritten(path))),
    async noteUncovered(callId, command) {
      if (isIsolated) return;
      await inOrder(() => settled(recorder.noteCommand(callId, command)));
    },
    list: async () => (await loadHistory(folder)).checkpoints.map(summaryOf),
    async inspect(id) {
      const history = await loadHistory(folder);
      const checkpoint = findCheckpoint(history.checkpoints, id);
      const target = checkpoint.id;
      return {
        checkpoint: summaryOf(checkpoint),
        files: filesOf(checkpoint, (state) => folder.blobs.has(state)),
        commands: checkpoint.commands,
        restore: await planFor(folder, history, { kind: "restore", target }),
        rollback: await planFor(folder, history, { kind: "rollback", target }),
      };
    },
    changes: async () => await changesSince(folder, await loadHistory(folder)),
    restoreTo: (id, restoreOptions) => restore("restore", id, restoreOptions),
    rollbackThrough: (id, restoreOptions) => restore("rollback", id, restoreOptions),
    rewindFiles: (id, { dryRun = false, onRestored } = {}) =>
      rewindFiles({ folder, id, onRestored, run: dryRun ? undefined : () => restore("rollback", id) }),
    recover: (how) => inOrder(() => whileIdle(async () => recoverRestore(folder, await loadHistory(folder), how))),
  };
}

type Protected<T> = { path: string; content: Uint8Array | string | undefined; write: (capture: Capture) => Promise<T> };

async function protect<T>(recorder: Recorder, { path, content, write }: Protected<T>): Promise<T> {
  const written = await write(await recorder.capture(path, content));
  await recorder.recordWritten(path);
  return written;
}

function summaryOf(checkpoint: Checkpoint): CheckpointSummary {
  const { links, commands, root: _root, apply: _apply, ...facts } = checkpoint;
  return { ...facts, fileCount: new Set(links.map(({ path }) => path)).size, commandCount: commands.length };
}

function filesOf({ links, root }: Checkpoint, has: (state: FileState & { kind: "file" }) => boolean): CheckpointFile[] {
  const first = new Map([...links].reverse().map((link) => [link.path, link.before]));
  return [...first].reverse().map(([path, before]) => {
    const reason = uncoveredReason(before);
    const available = reason === "" && (before.kind !== "file" || has(before));
    return { path, shown: showPath(path, root), before, available, ...(reason !== "" && { reason }) };
  });
}
