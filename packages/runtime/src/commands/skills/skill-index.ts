import { readFileSync, statSync } from "node:fs";
import { makeFolder } from "../../util/make-folder.ts";
import { dirname } from "node:path";
import { isRecord } from "../../util/is-record.ts";
import { replaceFile } from "../../util/replace-file.ts";
import type { Skill } from "./skill.ts";

/** What is known of a file without reading it: what it says about itself, and what is wrong with it. */
export type IndexedSkill = {
  readonly realPath: string;
  readonly skill: Omit<Skill, "name" | "kind" | "scope" | "path" | "folder" | "within" | "plugin">;
  readonly problems: readonly string[];
};

type Entry = IndexedSkill & { readonly stamp: string };

const version = 1;
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

  /** Undefined for a file that is not known as it is now. */
  get(path: string): IndexedSkill | undefined {
    const entry = this.#before.get(path);
    if (!entry || stampOf(path) !== entry.stamp) return undefined;
    this.#now.set(path, entry);
    return entry;
  }

  keep(path: string, indexed: IndexedSkill): void {
    const stamp = stampOf(path);
    if (stamp === undefined) return;
    this.#now.set(path, { ...indexed, stamp });
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

/** Of the file behind links. */
function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}-${stat.ino}-${stat.size}-${stat.mtimeMs}-${stat.ctimeMs}`;
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
