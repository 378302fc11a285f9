import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describeTree, replaceFile } from "../test/support/checkpoint-bench.ts";
import { type Checkpoints, createCheckpoints } from "../packages/runtime/src/checkpoints/checkpoints.ts";
import { createRandom } from "./report.ts";

export type CheckpointScript = {
  readonly seed: number;
  /** A folder that does not exist yet. */
  readonly place: string;
  /** The repository to start from. */
  readonly template: string;
  readonly count: (what: string, by?: number) => void;
};

const paths = ["a.txt", "b.bin", "run.sh", "src/c.ts", "src/d.ts", "src/lib/e.ts", "docs/f.md", "new/g", "new/deep/h"];

/** What is known about a path from doing everything to it that was done: written down apart from the store that is tested. */
type Touch = {
  readonly sequence: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
  userSince: boolean;
};

export async function playScript(script: CheckpointScript): Promise<void> {
  const play = new Play(script);
  play.start();
  const steps = 6 + play.below(14);
  for (let step = 0; step < steps; step++) await play.step();
  await play.restore();
}

export function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  spawnSync("git", args, { cwd, env, stdio: "ignore" }); // a commit without changes fails, which is fine here
}

class Play {
  readonly below: (limit: number) => number;
  readonly #script: CheckpointScript;
  readonly #project: string;
  readonly #directory: string;
  readonly #touches = new Map<string, Touch[]>();
  #checkpoints: Checkpoints;
  #sequence = 0;
  #texts = 0;
  #committed = false;

  constructor(script: CheckpointScript) {
    this.#script = script;
    this.#project = join(script.place, "project");
    this.#directory = join(script.place, "home", "checkpoints");
    this.below = createRandom(script.seed);
    this.#checkpoints = this.#open();
  }

  start(): void {
    cpSync(this.#script.template, this.#project, { recursive: true });
    for (const name of paths.slice(0, 5)) this.#userWrites(name);
    this.#userWrites("untouched/by-the-agent.txt");
    if (this.below(3) === 0) this.#commit();
  }

  async step(): Promise<void> {
    switch (this.below(8)) {
      case 0:
      case 1:
      case 2:
        return await this.#turn();
      case 3:
      case 4:
      case 5:
        return this.#userActs();
      case 6:
        this.#checkpoints = this.#open(); // as after the end of the process
        return;
      default:
        return await this.restore();
    }
  }

  async #turn(): Promise<void> {
    const sequence = ++this.#sequence;
    const gitBefore = this.#gitFolder();
    this.#checkpoints.beginTurn({ turnId: `t${sequence}`, prompt: "go" });
    for (let writes = this.below(5); writes > 0; writes--) {
      const name = this.#pick(paths);
      const path = join(this.#project, name);
      if (!isPlainPath(this.#project, name)) continue;
      const content = this.#text();
      const before = this.#tree()[name];
      await this.#checkpoints.protect(path, content, async () => replaceFile(path, content));
      this.#touch(name, { sequence, before, after: this.#tree()[name] });
      this.#script.count("files written by the agent");
      if (this.below(6) === 0) this.#userActs();
    }
    if (this.below(4) === 0) await this.#checkpoints.noteUncovered("call", "make");
    await this.#checkpoints.endTurn();
    if (!this.#committed) assert.deepEqual(this.#gitFolder(), gitBefore, "git is as it was after a turn");
    this.#committed = false;
  }

  /** Goes back somewhere, and checks everything that must hold. */
  async restore(): Promise<void> {
    if (this.#sequence === 0) return;
    const target = 1 + this.below(this.#sequence);
    const kind = this.below(2) === 0 ? "restore" : "rollback";
    const force = this.below(4) === 0;
    const before = this.#tree();
    const gitBefore = this.#gitFolder();
    const run = kind === "restore" ? this.#checkpoints.restoreTo : this.#checkpoints.rollbackThrough;
    const result = await run(String(target), { force });
    const after = this.#tree();
    this.#script.count(`${result.type}${force ? " with force" : ""}`);
    assert.deepEqual(this.#gitFolder(), gitBefore, "git is as it was after a restore");
    if (result.type !== "restored") {
      assert.deepEqual(after, before, `${result.type} changes nothing`);
      return;
    }
    const first = kind === "restore" ? target + 1 : target;
    const sequence = ++this.#sequence;
    for (const name of changedNames(before, after)) {
      if (isFolder(before[name], after[name])) {
        this.#checkFolder(name);
        continue;
      }
      this.#checkKept(name, before[name]);
      this.#checkChange(name, { first, force, after: after[name] });
      this.#touch(name, { sequence, before: before[name], after: after[name] });
    }
    assert.ok(!Object.keys(after).some((name) => name.includes(".outrider-")), "no temporary file is left");
    if (this.below(2) === 0) await this.#undo(result.checkpointId, { before, sequence });
  }

  async #undo(id: string, { before, sequence }: { before: Record<string, string>; sequence: number }): Promise<void> {
    const after = this.#tree();
    const undone = await this.#checkpoints.rollbackThrough(id);
    assert.equal(undone.type, "restored", "a restore can be undone");
    assert.deepEqual(filesOf(this.#tree()), filesOf(before), "and everything is as before it");
    this.#sequence = sequence + 1;
    const now = this.#tree();
    for (const name of changedNames(after, now))
      if (!isFolder(after[name], now[name]))
        this.#touch(name, { sequence: this.#sequence, before: after[name], after: now[name] });
    this.#script.count("restores undone");
  }

  /** Whatever a restore takes away is in the store: bytes by their hash, links in the log. */
  #checkKept(name: string, before: string | undefined): void {
    if (before === undefined || before === "folder" || before.startsWith("-> ")) return;
    const bytes = Buffer.from(before.slice(before.indexOf(" ") + 1), "base64");
    const hash = createHash("sha256").update(bytes).digest("hex");
    const copy = join(this.#directory, "s1", "blobs", hash);
    assert.ok(existsSync(copy) && readFileSync(copy).equals(bytes), `a copy of what was in ${name} is kept`);
  }

  #checkChange(name: string, { first, force, after }: { first: number; force: boolean; after: string | undefined }): void {
    const touches = (this.#touches.get(name) ?? []).filter(({ sequence }) => sequence >= first);
    const [earliest] = touches;
    assert.ok(earliest, `${name} was changed although the agent never touched it since`);
    assert.equal(contentOf(after), contentOf(earliest.before), `${name} holds what it held before`);
    if (!force)
      assert.ok(!touches.some(({ userSince }) => userSince), `${name} was changed by the user, and is left alone without force`);
  }

  /** Only a folder that is empty goes, and with it nothing but itself. */
  #checkFolder(name: string): void {
    assert.ok(
      paths.some((path) => path.startsWith(`${name}/`)),
      `${name} is no folder the agent may have made`,
    );
  }

  #touch(name: string, touch: Omit<Touch, "userSince">): void {
    const touches = this.#touches.get(name) ?? [];
    touches.push({ ...touch, userSince: false });
    this.#touches.set(name, touches);
  }

  #userActs(): void {
    const before = this.#tree();
    this.#userAct();
    const after = this.#tree();
    for (const name of changedNames(before, after)) {
      const last = this.#touches.get(name)?.at(-1);
      // What was changed and changed back is as it was; permission bits alone are no content that could be lost.
      if (last) last.userSince = contentOf(after[name]) !== contentOf(last.after);
    }
    this.#script.count("acts of the user");
  }

  #userAct(): void {
    const name = this.#pick(paths);
    const path = join(this.#project, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    switch (this.below(9)) {
      case 0:
      case 1:
        return this.#userWrites(name);
      case 2:
        return rmSync(path, { recursive: true, force: true });
      case 3: {
        const target = join(this.#project, this.#pick([...paths, "renamed.txt"]));
        if (stats?.isFile() && existsSync(dirname(target)) && !lstatSync(target, { throwIfNoEntry: false })?.isDirectory())
          renameSync(path, target);
        return;
      }
      case 4:
        if (!stats?.isFile()) return;
        rmSync(path);
        return symlinkSync(this.#pick(["../elsewhere", "untouched/by-the-agent.txt", "/nowhere"]), path);
      case 5:
        if (stats?.isFile()) chmodSync(path, this.#pick([0o644, 0o755, 0o600]));
        return;
      case 6: {
        const folder = join(this.#project, this.#pick(["src", "docs", "new"]));
        if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return rmSync(folder, { force: true });
        if (this.below(2) === 0) return rmSync(folder, { recursive: true });
        const aside = `${folder}-${++this.#texts}`;
        renameSync(folder, aside);
        return symlinkSync(aside, folder);
      }
      case 7:
        rmSync(path, { recursive: true, force: true });
        if (isPlainPath(this.#project, name)) writeInto(join(path, "inside.txt"), this.#text());
        return;
      default:
        return this.#commit();
    }
  }

  #userWrites(name: string): void {
    if (isPlainPath(this.#project, name)) writeInto(join(this.#project, name), this.#text());
  }

  #commit(): void {
    git(this.#project, "add", "-A");
    if (this.below(3) === 0) git(this.#project, "stash");
    else git(this.#project, "commit", "-qm", "by the user");
    this.#committed = true;
    this.#script.count("commits and stashes of the user");
  }

  /** Never the same twice, so that whose bytes they are is known; some are binary. */
  #text(): string {
    const text = `text ${++this.#texts} of script ${this.#script.seed}\n`;
    return this.below(5) === 0 ? `\0\r\n${text}` : text.repeat(1 + this.below(3));
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    assert.ok(picked !== undefined);
    return picked;
  }

  #open(): Checkpoints {
    return createCheckpoints({ directory: this.#directory, sessionId: "s1", root: this.#project, sync: false });
  }

  #tree(): Record<string, string> {
    return describeTree(this.#project, [".git"]);
  }

  #gitFolder(): Record<string, string> {
    return describeTree(join(this.#project, ".git"));
  }
}

/** Nothing on the way is a link, and it is no folder itself: where Write would write to. */
function isPlainPath(root: string, name: string): boolean {
  const parts = name.split("/");
  return parts.every((_, index) => {
    const stats = lstatSync(join(root, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return !stats || (index === parts.length - 1 ? stats.isFile() : stats.isDirectory());
  });
}

function writeInto(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function changedNames(before: Record<string, string>, after: Record<string, string>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
}

/** A folder that came or went. */
function isFolder(before: string | undefined, after: string | undefined): boolean {
  return (before ?? "folder") === "folder" && (after ?? "folder") === "folder";
}

/** Without permission bits. */
function contentOf(entry: string | undefined): string | undefined {
  return entry === undefined || entry === "folder" || entry.startsWith("-> ") ? entry : entry.slice(entry.indexOf(" ") + 1);
}

function filesOf(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([, entry]) => entry !== "folder"));
}
