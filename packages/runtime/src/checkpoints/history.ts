import type { FileState } from "./file-state.ts";
import type { CheckpointKind, CheckpointRecord } from "./record.ts";
import { defined } from "../util/defined.ts";

/** One change of one file. Somebody else touched it when the next link's `before`, or the file itself, is none of `after`. */
export type Link = {
  readonly checkpointId: string;
  readonly path: string;
  readonly before: FileState;
  /** What it may hold since: one state when the write is known to be done, two when a crash may have come before it. */
  readonly after: readonly FileState[];
  /** Folders that did not exist before, deepest first. */
  readonly made: readonly string[];
};

export type UncoveredCommand = { readonly callId: string; readonly command: string };

export type Checkpoint = {
  readonly id: string;
  readonly sequence: number;
  readonly kind: CheckpointKind;
  readonly at: string;
  readonly root?: string;
  readonly turnId?: string;
  readonly userMessageId?: string;
  readonly prompt?: string;
  readonly target?: string;
  readonly links: readonly Link[];
  readonly commands: readonly UncoveredCommand[];
  /** Of a restore or rollback. `prepared`: it ended before it changed anything. `applying`: it was cut off. `left`: cut off, and given up. */
  readonly progress?: "prepared" | "applying" | "applied" | "undone" | "left";
  /** Of a restore or rollback that started to change files. */
  readonly apply?: { readonly token: string; readonly emptied: readonly string[] };
};

export function checkpointId(kind: CheckpointKind, sequence: number): string {
  return `${kind}-${String(sequence).padStart(4, "0")}`;
}

/** The log as checkpoints, oldest first. */
export function toCheckpoints(records: readonly CheckpointRecord[]): Checkpoint[] {
  const drafts = new Map<number, Draft>();
  for (const record of records) {
    if (record.type === "begin") drafts.set(record.n, { begin: record, links: [], commands: [] });
    const draft = drafts.get(record.n);
    if (draft) addRecord(draft, record);
  }
  return [...drafts.values()].map(toCheckpoint);
}

type Begin = CheckpointRecord & { type: "begin" };
type DraftLink = { path: string; before: FileState; after: FileState[]; made: readonly string[] };
type Draft = {
  begin: Begin;
  links: DraftLink[];
  commands: UncoveredCommand[];
  apply?: { token: string; emptied: readonly string[] };
  how?: "applied" | "undone" | "left";
};

function addRecord(draft: Draft, record: CheckpointRecord): void {
  switch (record.type) {
    case "link":
      draft.links.push({
        path: record.path,
        before: record.before,
        after: [record.before, ...(record.intended ? [record.intended] : [])],
        made: record.made ?? [],
      });
      return;
    case "again":
    case "written": {
      const link = draft.links.findLast(({ path }) => path === record.path);
      if (!link) return;
      link.after = record.type === "written" ? [record.after] : [record.from, ...(record.intended ? [record.intended] : [])];
      return;
    }
    case "command":
      draft.commands.push({ callId: record.callId, command: record.command });
      return;
    case "apply":
      draft.apply = { token: record.token, emptied: record.emptied };
      return;
    case "done":
      draft.how = record.how;
      return;
    case "begin":
      return;
  }
}

function toCheckpoint(draft: Draft): Checkpoint {
  const { type: _type, n, ...begin } = draft.begin;
  const id = checkpointId(begin.kind, n);
  const restores = begin.kind === "restore" || begin.kind === "rollback";
  const progress = draft.how ?? (draft.apply ? "applying" : "prepared");
  const links = draft.links.map(({ path, before, after, made }) => ({
    checkpointId: id,
    path,
    before,
    after: restores ? afterRestore({ before, after }, progress) : after,
    made,
  }));
  return {
    id,
    sequence: n,
    ...begin,
    links,
    commands: draft.commands,
    ...(restores && { progress }),
    ...defined({ apply: draft.apply }),
  };
}

function afterRestore(link: { before: FileState; after: FileState[] }, progress: Checkpoint["progress"]): FileState[] {
  if (progress === "applied") return link.after.slice(-1);
  return progress === "undone" || progress === "prepared" ? [link.before] : link.after;
}
