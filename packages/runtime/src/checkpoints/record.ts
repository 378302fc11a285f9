import { isAbsolute, normalize } from "node:path";
import type { FileState, UncoveredReason } from "./file-state.ts";
import { toSafeJson } from "../util/jsonl.ts";

export type CheckpointKind = "turn" | "background" | "restore" | "rollback";

/** One line of a session's checkpoint log. `n` numbers the checkpoint it belongs to, from 1, never used twice. */
export type CheckpointRecord =
  | {
      readonly type: "begin";
      readonly n: number;
      readonly kind: CheckpointKind;
      readonly at: string;
      readonly root?: string;
      readonly turnId?: string;
      readonly userMessageId?: string;
      readonly prompt?: string;
      /** Of a restore or rollback: the id it was asked for. */
      readonly target?: string;
    }
  /** Stored before `path` is changed. `intended` is what it is about to hold, `made` the folders that will be created for it. */
  | {
      readonly type: "link";
      readonly n: number;
      readonly path: string;
      readonly before: FileState;
      readonly intended?: FileState;
      readonly made?: readonly string[];
    }
  /** Another write of the same turn to a file that still is as the turn left it. */
  | { readonly type: "again"; readonly n: number; readonly path: string; readonly from: FileState; readonly intended?: FileState }
  | { readonly type: "written"; readonly n: number; readonly path: string; readonly after: FileState }
  | { readonly type: "command"; readonly n: number; readonly callId: string; readonly command: string }
  /** Everything a restore is about to replace is kept; from here on files change. `token` names its temporary files. */
  | { readonly type: "apply"; readonly n: number; readonly token: string; readonly emptied: readonly string[] }
  | { readonly type: "done"; readonly n: number; readonly how: "applied" | "undone" | "left" };

/** One line, with a sum over what it says, so that damage is told from truth. */
export function toRecordLine(record: CheckpointRecord): string {
  const json = toSafeJson(record);
  return `${json.slice(0, -1)},"sum":"${sumOf(json)}"}\n`;
}

/** Undefined for a line that was torn, damaged or made up: nothing it says may be acted on. */
export function parseRecordLine(line: string): CheckpointRecord | undefined {
  const cut = line.lastIndexOf(',"sum":"');
  const json = `${line.slice(0, cut)}}`;
  if (cut === -1 || line.slice(cut) !== `,"sum":"${sumOf(json)}"}`) return undefined;
  try {
    return toRecord(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function sumOf(json: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(json).digest("hex").slice(0, 16);
}

type Fields = Readonly<Record<string, unknown>>;

function toRecord(value: unknown): CheckpointRecord | undefined {
  if (!isFields(value) || !isCount(value["n"]) || value["n"] < 1) return undefined;
  return isWholeRecord(value) ? (value as unknown as CheckpointRecord) : undefined; // every field was looked at
}

function isWholeRecord(value: Fields): boolean {
  switch (value["type"]) {
    case "begin":
      return (
        isOneOf(value["kind"], ["turn", "background", "restore", "rollback"]) &&
        isText(value["at"]) &&
        (value["root"] === undefined || isPath(value["root"])) &&
        ["turnId", "userMessageId", "prompt", "target"].every((name) => value[name] === undefined || isText(value[name]))
      );
    case "link":
      return (
        isPath(value["path"]) &&
        isState(value["before"]) &&
        (value["intended"] === undefined || isState(value["intended"])) &&
        (value["made"] === undefined || isPaths(value["made"]))
      );
    case "again":
      return isPath(value["path"]) && isState(value["from"]) && (value["intended"] === undefined || isState(value["intended"]));
    case "written":
      return isPath(value["path"]) && isState(value["after"]);
    case "command":
      return isText(value["callId"]) && isText(value["command"]);
    case "apply":
      return isText(value["token"]) && /^[0-9a-f-]{36}$/.test(value["token"]) && isPaths(value["emptied"]);
    case "done":
      return isOneOf(value["how"], ["applied", "undone", "left"]);
    default:
      return false;
  }
}

function isState(value: unknown): value is FileState {
  if (!isFields(value)) return false;
  switch (value["kind"]) {
    case "absent":
    case "directory":
      return true;
    case "file":
      return (
        isText(value["hash"]) &&
        /^[0-9a-f]{64}$/.test(value["hash"]) &&
        isCount(value["size"]) &&
        (value["mode"] === undefined || (isCount(value["mode"]) && value["mode"] <= 0o7777))
      );
    case "link":
      return isText(value["to"]);
    case "uncovered":
      return isOneOf(value["reason"], ["too-large", "special", "unreadable", "git"] satisfies UncoveredReason[]);
    default:
      return false;
  }
}

/** Only a path written out to its end: `..` in a stored path would lead out of wherever it claims to be. */
function isPath(value: unknown): value is string {
  return isText(value) && isAbsolute(value) && normalize(value) === value && !value.includes("\0") && !/.\/$/.test(value);
}

function isPaths(value: unknown): boolean {
  return Array.isArray(value) && value.every(isPath);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isOneOf(value: unknown, choices: readonly string[]): boolean {
  return isText(value) && choices.includes(value);
}
