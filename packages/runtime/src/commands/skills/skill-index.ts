import { readFileSync, type Stats, statSync } from "node:fs";
import { makeFolder } from "../../util/make-folder.ts";
import { dirname } from "node:path";
import { isRecord } from "../../util/is-record.ts";
import { replaceFile } from "../../util/replace-file.ts";
import { type Said, type SkillPlace, toSkill } from "./said.ts";
import type { Skill } from "./skill.ts";

/** What is known of a file without reading it: what it says about itself, and what is wrong with it. */
export type IndexedSkill = {
  readonly realPath: string;
  readonly skill: Skill;
  readonly problems: readonly string[];
};

/** The file behind links, in numbers that another file cannot have: device, inode, size and both times. */
export type Stamp = readonly [number, number, number, number, number];

/** What was read of a file, and which file it was then. */
type KnownFile = {
  readonly stamp: Stamp;
  readonly said: Said;
  readonly realPath: string;
  readonly problems: readonly string[];
};

/** Short: a thousand of them are read at every start. */
type Entry = {
  readonly stamp: Stamp;
  readonly said: Said;
  readonly kind?: "command";
  readonly within?: string;
  /** Behind links. */
  readonly realPath?: string;
  readonly problems?: readonly string[];
};

const version = 5;
/** Fewer files are read as fast as their index. */
const leastEntries = 100;

/**
 * What many files said about themselves when they were last read. An entry counts for the very file it was made of: another size, time or inode,
 * and the file is read again. An index that is broken or of another version counts as none.
 */
export class SkillIndex {
  readonly #file: string;
  readonly #before: ReadonlyMap<string, Entry>;
  readonly #now = new Map<string, Entry>();
  #isChanged = false;

  constructor(file: string) {
    this.#file = file;
    this.#before = readEntries(file);
  }

  /** Undefined for a file that is not known as it is now, or was found as something else. */
  get(path: string, place: SkillPlace): IndexedSkill | undefined {
    const entry = this.#before.get(path);
    if (!entry || (entry.kind ?? "skill") !== place.kind || entry.within !== place.within) return undefined;
    if (!isSame(entry.stamp, path)) return undefined;
    this.#now.set(path, entry);
    const { said, realPath = path, problems = [] } = entry;
    return { realPath, problems, skill: toSkill(said, place) };
  }

  keep({ path, kind, within }: SkillPlace, { stamp, said, realPath, problems }: KnownFile): void {
    this.#now.set(path, {
      ...{ stamp, said },
      ...(kind === "command" && { kind }),
      ...(within !== undefined && { within }),
      ...(realPath !== path && { realPath }),
      ...(problems.length > 0 && { problems }),
    });
    this.#isChanged = true;
  }

  /** Where it cannot be written, the files are read again the next time. */
  async save(): Promise<void> {
    const isSame = !this.#isChanged && this.#now.size === this.#before.size;
    if (isSame || this.#now.size < leastEntries) return;
    try {
      makeFolder(dirname(this.#file));
      await replaceFile(this.#file, JSON.stringify({ version, entries: [...this.#now] }), { mode: 0o600 });
    } catch {
      // nothing but time is lost
    }
  }
}

export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): Stamp {
  return [dev, ino, size, mtimeMs, ctimeMs];
}

function isSame([dev, ino, size, mtimeMs, ctimeMs]: Stamp, path: string): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  if (now?.ino !== ino || now.dev !== dev || now.size !== size) return false;
  return now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs;
}

function readEntries(file: string): ReadonlyMap<string, Entry> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isRecord(value) || value["version"] !== version || !Array.isArray(value["entries"])) return new Map();
    return new Map(value["entries"] as [string, Entry][]); // we wrote it, in a folder of the user's
  } catch {
    return new Map();
  }
}
