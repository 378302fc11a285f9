import { isAbsolute, normalize } from "node:path";
import type { Lock } from "../journal/lock.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { type FileState, isInsideGit, missingFolders, readState, sameContent, type UncoveredReason } from "./file-state.ts";
import { checkpointId } from "./history.ts";
import { appendRecords, readLastRecord } from "./log.ts";
import { recoverRestore } from "./recover.ts";
import type { CheckpointRecord } from "./record.ts";
import { loadHistory } from "./restore.ts";
import type { SessionFolder } from "./session-folder.ts";
import { storageFailure } from "./storage-failure.ts";
import { defined } from "../util/defined.ts";

export type TurnStart = {
  readonly turnId: string;
  readonly prompt: string;
  /** The id a client knows the prompt by, where that is another one. */
  readonly userMessageId?: string;
};

/** A turn that ended before anything was kept, with the shell commands it ran. */
export type PastTurn = TurnStart & {
  readonly at?: string;
  readonly commands?: readonly { readonly callId: string; readonly command: string }[];
};

/** `covered: false`: the file may be changed, but the change cannot be undone. */
export type Capture =
  | { readonly covered: true; readonly checkpointId: string }
  | { readonly covered: false; readonly checkpointId: string; readonly reason: UncoveredReason };

export type RecorderOptions = {
  readonly folder: SessionFolder;
  readonly root?: string;
  readonly now: () => number;
  /** Prompts and commands are stored as it leaves them. */
  readonly redact: (text: string) => string;
};

/** `before` is kept; `after` is what the file may hold since. */
type Touched = { before: FileState; after: readonly FileState[]; intended: FileState | undefined };
type OpenCheckpoint = { n: number; id: string; files: Map<string, Touched> };

const promptLength = 200;
/** Of turns before the first change, the latest so many: nobody looks further for a place to go back to. */
const maxPastTurns = 1_000;
const commandLength = 500;

/** Keeps what a turn is about to change. Holds the session's lock from the first change of a turn to its end. */
export class Recorder {
  readonly #options: RecorderOptions;
  #turn: TurnStart | undefined;
  #past: PastTurn[] = [];
  #open: OpenCheckpoint | undefined;
  #lock: Lock | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get inTurn(): boolean {
    return this.#turn !== undefined;
  }

  begin(turn: TurnStart): void {
    this.#open = undefined;
    this.#turn = turn;
  }

  /** Also a turn that changed nothing is on record, so that it can be named as the one to go back to. */
  async end(): Promise<void> {
    try {
      if (this.#turn && !this.#open) await this.#openCheckpoint({ sync: false });
    } finally {
      this.#turn = undefined;
      this.#open = undefined;
      this.#lock?.release();
      this.#lock = undefined;
    }
  }

  /** Puts them on record before whatever comes next; those that are there already are passed over. */
  async noteTurns(turns: readonly PastTurn[]): Promise<void> {
    this.#past.push(...turns);
    if (this.#open) return;
    this.#lock ??= await this.#options.folder.lock();
    const last = await readLastRecord(this.#options.folder.log);
    if (last?.type !== "apply") await this.#writePast(last); // a restore that was cut off must stay the last there is
  }

  async capture(path: string, content: Uint8Array | string | undefined): Promise<Capture> {
    if (!isAbsolute(path) || normalize(path) !== path)
      throw new RuntimeError("usage", `A checkpoint needs the real path of a file, not ${JSON.stringify(path)}`);
    const intended = content === undefined ? undefined : contentState(content);
    const open = await this.#openCheckpoint();
    const touched = open.files.get(path);
    const again = touched && (await this.#isOwnWork(path, touched));
    if (again) await this.#append([{ type: "again", n: open.n, path, from: again, ...defined({ intended }) }]);
    const before = again ? touched.before : await this.#keep(open, { path, intended });
    open.files.set(path, { before, after: [again ?? before, ...(intended ? [intended] : [])], intended });
    return before.kind === "uncovered"
      ? { covered: false, checkpointId: open.id, reason: before.reason }
      : { covered: true, checkpointId: open.id };
  }

  /** Where the content was announced, that is what counts: what is there now may be somebody else's already. */
  async recordWritten(path: string): Promise<void> {
    const open = this.#open;
    const touched = open?.files.get(path);
    if (!open || !touched) return;
    const current = await this.#look(path);
    const { intended } = touched;
    if (intended && !sameContent(current, intended)) return;
    await this.#append([{ type: "written", n: open.n, path, after: current }], { sync: false });
    open.files.set(path, { ...touched, after: [current] });
  }

  async noteCommand(callId: string, command: string): Promise<void> {
    const open = await this.#openCheckpoint();
    await this.#append([this.#command(open.n, callId, command)]);
  }

  /** What the file holds, when that still is what the turn put there: what was there before it is kept already. */
  async #isOwnWork(path: string, { after }: Touched): Promise<FileState | undefined> {
    const current = await this.#look(path);
    return after.some((state) => sameContent(state, current)) ? current : undefined;
  }

  async #keep(open: OpenCheckpoint, { path, intended }: { path: string; intended: FileState | undefined }): Promise<FileState> {
    const inGit: FileState = { kind: "uncovered", reason: "git" };
    const before = isInsideGit(path) ? inGit : await this.#options.folder.blobs.save(path);
    if (before.kind === "uncovered" && before.reason === "unreadable")
      throw new RuntimeError("storage-failed", `${path} cannot be read, so it cannot be kept for undoing and was not changed`);
    const made = before.kind === "absent" ? missingFolders(path) : [];
    await this.#append([{ type: "link", n: open.n, path, before, ...defined({ intended }), ...(made.length > 0 && { made }) }]);
    return before;
  }

  /** A change after its turn's end is background work: a checkpoint of its own, and the lock is given back by the next `end`. */
  async #openCheckpoint(durability: { sync?: boolean } = {}): Promise<OpenCheckpoint> {
    if (this.#open) return this.#open;
    const { folder, root, now } = this.#options;
    this.#lock ??= await folder.lock();
    let last = await readLastRecord(folder.log);
    if (last?.type === "apply") {
      // The turn starts from the files as they are; completing a restore under it would change them behind its back.
      await recoverRestore(folder, await loadHistory(folder), "leave");
      last = await readLastRecord(folder.log);
    }
    const n = (await this.#writePast(last)) + 1;
    const kind = this.#turn ? "turn" : "background";
    const about = this.#turn ? this.#aboutTurn(this.#turn) : {};
    await this.#append(
      [{ type: "begin", n, kind, at: new Date(now()).toISOString(), ...defined({ root }), ...about }],
      durability,
    );
    this.#open = { n, id: checkpointId(kind, n), files: new Map() };
    return this.#open;
  }

  /** Answers the number of the last checkpoint. */
  async #writePast(last: CheckpointRecord | undefined): Promise<number> {
    let n = last?.n ?? 0;
    const past = this.#past.splice(0).slice(-maxPastTurns);
    if (past.length === 0) return n;
    const { folder, root, now } = this.#options;
    const known = new Set(last && (await loadHistory(folder)).checkpoints.map(({ turnId }) => turnId));
    const fresh = past.slice(past.findLastIndex(({ turnId }) => known.has(turnId)) + 1); // none may stand behind a later one
    const records = fresh.flatMap((turn): CheckpointRecord[] => {
      n++;
      const at = turn.at ?? new Date(now()).toISOString();
      const commands = (turn.commands ?? []).map(({ callId, command }) => this.#command(n, callId, command));
      return [{ type: "begin", n, kind: "turn", at, ...defined({ root }), ...this.#aboutTurn(turn) }, ...commands];
    });
    if (records.length > 0) await this.#append(records, { sync: false });
    return n;
  }

  #aboutTurn({ turnId, prompt, userMessageId }: TurnStart): Pick<TurnStart, "turnId" | "prompt" | "userMessageId"> {
    return { turnId, prompt: this.#short(prompt, promptLength), ...defined({ userMessageId }) };
  }

  #command(n: number, callId: string, command: string): CheckpointRecord {
    return { type: "command", n, callId, command: this.#short(command, commandLength) };
  }

  async #look(path: string): Promise<FileState> {
    try {
      return await readState(path, this.#options.folder.maxFileBytes);
    } catch (error) {
      throw storageFailure(`${path} cannot be looked at`, error);
    }
  }

  #short(text: string, length: number): string {
    const shown = this.#options.redact(text); // before cutting: half a secret would not be known as one
    return shown.length > length ? `${shown.slice(0, length)}…` : shown;
  }

  async #append(records: readonly CheckpointRecord[], { sync = true }: { sync?: boolean } = {}): Promise<void> {
    const { folder } = this.#options;
    this.#lock?.check();
    await appendRecords(folder.log, records, sync && folder.sync);
  }
}

function contentState(content: Uint8Array | string): FileState {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex");
  return { kind: "file", hash, size: bytes.length };
}
