import { readFileSync, statSync } from "node:fs";
import { makeFolder } from "../../util/make-folder.ts";
import { dirname } from "node:path";
import { isRecord } from "../../util/is-record.ts";
import { replaceFile } from "../../util/replace-file.ts";
import type { SkillPlace } from "./parse-skill.ts";
import type { Skill } from "./skill.ts";

/** What is known of a file without reading it: what it says about itself, and what is wrong with it. */
export type IndexedSkill = {
  readonly realPath: string;
  readonly skill: Skill;
  readonly problems: readonly string[];
};

/** The file behind links, in numbers that another file cannot have: device, inode, size and both times. */
type Stamp = readonly [number, number, number, number, number];

/** What a file says about itself where it is not what most say; where it lies is known. */
type Said = Partial<Omit<Skill, keyof SkillPlace>>;

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

const usual = {
  argumentNames: [],
  allowedTools: [],
  disallowedTools: [],
  forks: false,
  modelInvocable: true,
  userInvocable: true,
  paths: [],
  hasHead: true,
} as const satisfies Said;

const version = 4;
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

  keep(path: string, { realPath, problems, skill }: IndexedSkill): void {
    const stamp = stampOf(path);
    if (stamp === undefined) return;
    const { name: _, kind, scope: __, path: ___, folder: ____, within, plugin: _____, ...fields } = skill;
    const said = Object.fromEntries(Object.entries(fields).filter(([key, value]) => !isUsual(key, value)));
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

/** Written out: objects that are put together of others, a thousand times, take most of the time of a start. */
function toSkill(said: Said, { name, kind, scope, path, folder, within, plugin }: SkillPlace): Skill {
  const { argumentNames, allowedTools, disallowedTools, forks, modelInvocable, userInvocable, paths, hasHead } = said;
  const skill: { -readonly [Key in keyof Skill]: Skill[Key] } = {
    name,
    kind,
    scope,
    path,
    folder,
    description: said.description ?? "",
    argumentNames: argumentNames ?? usual.argumentNames,
    allowedTools: allowedTools ?? usual.allowedTools,
    disallowedTools: disallowedTools ?? usual.disallowedTools,
    forks: forks ?? usual.forks,
    modelInvocable: modelInvocable ?? usual.modelInvocable,
    userInvocable: userInvocable ?? usual.userInvocable,
    paths: paths ?? usual.paths,
    hasHead: hasHead ?? usual.hasHead,
  };
  if (within !== undefined) skill.within = within;
  if (plugin !== undefined) skill.plugin = plugin;
  if (said.label !== undefined) skill.label = said.label;
  if (said.argumentHint !== undefined) skill.argumentHint = said.argumentHint;
  if (said.model !== undefined) skill.model = said.model;
  if (said.effort !== undefined) skill.effort = said.effort;
  if (said.hooks !== undefined) skill.hooks = said.hooks;
  if (said.agent !== undefined) skill.agent = said.agent;
  return skill;
}

function isUsual(key: string, value: unknown): boolean {
  return Object.hasOwn(usual, key) && JSON.stringify(usual[key as keyof typeof usual]) === JSON.stringify(value); // the key was looked up
}

function stampOf(path: string): Stamp | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && [stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs];
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
