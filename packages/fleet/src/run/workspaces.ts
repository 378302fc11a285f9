import { createHash } from "node:crypto";
import { cpSync, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import { RuntimeError } from "@outrider/runtime";
import type { BatchUnit } from "../tasks/task.ts";
import { runProgram } from "../util/run-program.ts";

export type PreparedWorkspace = {
  /** Where the agent works. */
  readonly cwd: string;
  /** The top of the folder that belongs to the task alone, and the commit or tree that patches are made against: the same on each machine. */
  readonly own?: { readonly root: string; readonly base: string } | undefined;
};

/** Where tasks work: in the user's folder, or in one of their own that is made afresh. */
export class Workspaces {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #mirrors = new Map<string, Promise<string>>();

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = resolve(folder);
    this.#env = { ...env, GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1" };
  }

  /** Copies of the sources, whose objects checkouts borrow. */
  get repositories(): string {
    return join(this.#folder, "repositories");
  }

  /** Throws away what an earlier try has left: to be called before anything was done in it. */
  async prepare({ task }: BatchUnit, name: string): Promise<PreparedWorkspace> {
    if (!task.git && task.seed === undefined) return { cwd: task.cwd ?? process.cwd() };
    const root = join(this.#folder, "workspaces", name);
    rmSync(root, { recursive: true, force: true });
    makeFolder(root, 0o777);
    const base = task.git ? await this.#checkOut(root, task.git) : await this.#copy(root, task.seed ?? "");
    return { cwd: folderIn(root, task.cwd ?? "."), own: { root, base } };
  }

  /** What the agent changed, as a file that `git apply` takes; none where nothing was changed. */
  async patch({ own }: PreparedWorkspace, file: string): Promise<void> {
    if (!own) return;
    const git = (...args: string[]): Promise<string> => this.#git(own.root, args, this.#apart(own.root));
    await git("read-tree", own.base);
    await git("add", "-A");
    makeFolder(dirname(file), 0o777);
    const fresh = `${file}.new`;
    await git("diff-index", "--cached", "--binary", "--full-index", "-p", `--output=${fresh}`, own.base); // git writes it: bytes are no text
    if (statSync(fresh).size === 0) rmSync(fresh);
    else renameSync(fresh, file);
  }

  remove(name: string): void {
    for (const kind of ["workspaces", "bases"]) rmSync(join(this.#folder, kind, name), { recursive: true, force: true });
  }

  /** A repository that the agent has never seen, over the same folder: whatever it did to its own, this one has the base. */
  #apart(root: string): Record<string, string> {
    return { GIT_DIR: join(this.#folder, "bases", basename(root)), GIT_WORK_TREE: root };
  }

  async #openApart(root: string): Promise<Record<string, string>> {
    const env = this.#apart(root);
    rmSync(env["GIT_DIR"] ?? "", { recursive: true, force: true });
    makeFolder(dirname(env["GIT_DIR"] ?? ""), 0o777);
    await this.#git(root, ["init", "-q"], env);
    return env;
  }

  /**
   * A repository of its own that borrows the objects of a copy of the source: no branch, tag or remote of the source is in it, so that nobody
   * finds the future there, and what one task commits no other sees.
   */
  async #checkOut(root: string, { repository, commit }: { repository: string; commit: string }): Promise<string> {
    const mirror = await this.#mirror(repository);
    const base = await this.#commitIn(mirror, repository, commit);
    await this.#git(root, ["init", "-q"]);
    const { GIT_DIR: apart = "" } = await this.#openApart(root);
    for (const own of [join(root, ".git"), apart])
      writeFileSync(join(own, "objects/info/alternates"), `${join(mirror, "objects")}\n`);
    await this.#git(root, ["checkout", "-q", "--detach", base]);
    return base;
  }

  async #copy(root: string, seed: string): Promise<string> {
    if (existsSync(seed))
      cpSync(seed, root, { recursive: true, filter: (path) => !/\/(?:Dockerfile|docker-compose\.ya?ml)$/.test(path) });
    await this.#git(root, ["init", "-q"]);
    await this.#git(root, ["add", "-A"]);
    const author = ["-c", "user.name=outrider", "-c", "user.email=outrider@localhost"];
    await this.#git(root, [...author, "commit", "-q", "--allow-empty", "-m", "As the task gives it"]);
    const apart = await this.#openApart(root);
    await this.#git(root, ["add", "-A"], apart);
    return (await this.#git(root, ["write-tree"], apart)).trim(); // a commit would have the time in it
  }

  async #mirror(repository: string): Promise<string> {
    const known = this.#mirrors.get(repository) ?? this.#cloneMirror(repository);
    this.#mirrors.set(repository, known);
    known.catch(() => this.#mirrors.delete(repository));
    return await known;
  }

  async #cloneMirror(repository: string): Promise<string> {
    const name = createHash("sha256").update(repository).digest("hex").slice(0, 24);
    const place = join(this.repositories, name);
    if (existsSync(place)) return place;
    const fresh = `${place}.${process.pid}`;
    rmSync(fresh, { recursive: true, force: true });
    makeFolder(this.repositories, 0o777);
    await this.#git(this.#folder, ["clone", "-q", "--bare", "--", repository, fresh]);
    try {
      renameSync(fresh, place); // whole or not there
    } catch (error) {
      if (!existsSync(place)) throw error; // another process was first
      rmSync(fresh, { recursive: true, force: true });
    }
    return place;
  }

  async #commitIn(mirror: string, repository: string, commit: string): Promise<string> {
    const find = (): Promise<string> => this.#git(mirror, ["rev-parse", "--verify", "-q", `${commit}^{commit}`]);
    const found = await find().catch(async () => {
      await this.#git(mirror, ["fetch", "-q", "--", repository, commit]);
      return await find();
    });
    return found.trim();
  }

  async #git(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const harmless = [
      "-c",
      "core.hooksPath=/dev/null",
      "-c",
      "core.fsmonitor=false",
      "-c",
      "protocol.ext.allow=never",
      "-c",
      "advice.detachedHead=false",
    ];
    const { code, stdout, stderr } = await runProgram("git", [...harmless, ...args], {
      cwd,
      env: { ...this.#env, ...env },
    });
    if (code === 0) return stdout;
    throw new RuntimeError("config", `git ${args[0]} failed: ${stderr.trim().slice(0, 500) || `exit ${code}`}`);
  }
}

/** A folder of the checkout, wherever its links lead. */
function folderIn(root: string, name: string): string {
  const path = resolve(root, name);
  const real = existsSync(path) ? realpathSync(path) : undefined;
  const way = real === undefined ? ".." : relative(realpathSync(root), real);
  if (real === undefined || way.split("/")[0] === ".." || isAbsolute(way))
    throw new RuntimeError("config", `cwd: ${JSON.stringify(name)} is no folder in the checkout`);
  return real;
}
