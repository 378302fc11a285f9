import { readdirSync, readFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { pathKey } from "../util/path-key.ts";
import { replaceFile } from "../util/replace-file.ts";
import { messageOf } from "../util/message-of.ts";

/** What the user said yes to: the content of one project, file by file, in one place. */
export type TrustRecord = {
  /** Real path: the same content elsewhere is another project. */
  readonly root: string;
  readonly fingerprint: string;
  /** When it was trusted, as an ISO date. */
  readonly at: string;
  /** Digests of what was shown, by file of the project. */
  readonly files: readonly (readonly [name: string, digest: string])[];
};

/** One file per project, so that two runs never overwrite each other's answer. */
export async function writeTrustRecord(outriderHome: string, record: TrustRecord): Promise<string> {
  const directory = join(outriderHome, "trust");
  const path = fileFor(outriderHome, record.root);
  try {
    makeFolder(directory);
    await chmod(directory, 0o700);
    await replaceFile(path, `${JSON.stringify({ version: 1, ...record }, null, 2)}\n`);
  } catch (error) {
    throw new RuntimeError("storage-failed", `${path} cannot be written: ${messageOf(error)}`, {
      hint: "Point OUTRIDER_HOME at a folder that can be written to",
    });
  }
  return path;
}

/** Undefined when nobody has trusted this place. */
export function readTrustRecord(outriderHome: string, root: string): TrustRecord | undefined {
  const record = readRecord(fileFor(outriderHome, root));
  return record?.root === root ? record : undefined;
}

/** Says whether there was something to forget. */
export async function removeTrustRecord(outriderHome: string, root: string): Promise<boolean> {
  const path = fileFor(outriderHome, root);
  try {
    await rm(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false; // fs rejects with nothing else
    throw new RuntimeError("storage-failed", `${path} cannot be removed: ${messageOf(error)}`);
  }
}

export function listTrustRecords(outriderHome: string): TrustRecord[] {
  const directory = join(outriderHome, "trust");
  return namesIn(directory)
    .flatMap((name) => {
      const record = name.endsWith(".json") ? readRecord(join(directory, name)) : undefined;
      return record ? [record] : [];
    })
    .sort((first, second) => (first.root < second.root ? -1 : 1));
}

function fileFor(outriderHome: string, root: string): string {
  return join(outriderHome, "trust", `${pathKey(root)}.json`);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // fs throws nothing else
    throw new RuntimeError("storage-failed", `${directory} cannot be read: ${messageOf(error)}`);
  }
}

/** A record that cannot be read trusts nothing. */
function readRecord(path: string): TrustRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isTrustRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTrustRecord(value: unknown): value is TrustRecord {
  if (typeof value !== "object" || value === null) return false;
  const { root, fingerprint, at, files } = value as Partial<Record<keyof TrustRecord, unknown>>; // each is looked at here
  return [root, fingerprint, at].every((text) => typeof text === "string") && isPairs(files);
}

function isPairs(value: unknown): boolean {
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
  return Array.isArray(value) && value.every(isPair);
}
