import { dirname, join } from "node:path";
import { foldersOf, type Ground, targetsOf } from "./command-paths.ts";
import { hasOrders, holdsName, mayHoldModules, type Orders } from "./folder-orders.ts";
import type { ListFolder } from "./glob-words.ts";
import { switchesToolchain } from "./go-toolchain.ts";
import type { Program } from "./parsed-command.ts";
import type { Policy } from "./policy.ts";
import type { FoundProgram } from "./program-finder.ts";
import { ordersFor, questionOf } from "./program-questions.ts";
import type { Looking } from "./read-only-commands.ts";
import { isBuiltin } from "./shell-builtins.ts";
import type { ShellWord } from "./shell-words.ts";
import { filesOfManager } from "./version-managers.ts";

/** What the project has to say in which program a name means, and in what that does. */
export class ProgramOrders {
  readonly #policy: Policy;
  readonly #list: ListFolder | undefined;

  constructor(policy: Policy, list: ListFolder | undefined) {
    this.#policy = policy;
    this.#list = list;
  }

  /** `NAME --help`, `--version` or `version`, where the project has no say in what that does. */
  async isAnswer(program: Program, ground: Ground | undefined): Promise<boolean> {
    const question = questionOf(program);
    if (!question) return false;
    if (await this.#obeys(program, { reads: [], ground })) return false;
    if (question === "likely" && (await this.#mayMeanFile(program, ground))) return false;
    const place = await this.#policy.programs?.place(program.name);
    return place === "other" || (place === "system" && question === "certain");
  }

  /** `pydoc version` and `tsc version` take what lies there. */
  async #mayMeanFile({ places }: Program, ground: Ground | undefined): Promise<boolean> {
    const list = this.#list;
    if (!list || !ground) return true;
    const folders = await foldersOf(places, ground);
    return !folders || holdsName(folders, "version", list);
  }

  /** Why a program that looks may be another one, or do what the project says. Bash has its builtins itself. */
  async stranger(
    program: Program,
    by: { looking: Looking | undefined; changed: boolean; ground: Ground },
  ): Promise<string | undefined> {
    const { programs } = this.#policy;
    const list = this.#list;
    if (by.looking && (await this.#obeys(program, { reads: by.looking.reads, ground: by.changed ? undefined : by.ground })))
      return `${program.name} may do what a file of the project says`;
    if (by.looking?.modules) {
      const folders = by.changed ? undefined : await foldersOf(program.places, by.ground);
      if (!list || !folders || (await mayHoldModules(folders, list))) return `${program.name} may take modules from the project`;
    }
    if (!(by.looking || program.transparent) || !programs || isBuiltin(program.name) || program.words[0]?.text.includes("/"))
      return undefined;
    // The names of what it starts are not known: there must be no folder of the project where they are looked for.
    const changed = by.changed || by.looking?.starts === true;
    return (await programs.isShadowed(program.name, changed)) ? `${program.name} may be a program of the project` : undefined;
  }

  /** The project may tell this program what to do. Without a ground, what lies in its folders is not known. */
  async #obeys(program: Program, by: { reads: readonly ShellWord[]; ground: Ground | undefined }): Promise<boolean> {
    const { ground } = by;
    const { base } = this.#policy;
    const list = this.#list;
    const orders = await this.#ordersFor(program);
    if (!orders) return false;
    if (!list || !ground || orders === "any") return true;
    const folders = await foldersOf(program.places, ground);
    if (!folders) return true;
    const files = await Promise.all(by.reads.map((word) => targetsOf({ word, places: program.places }, ground)));
    const beside: string[] = [];
    for (const target of files.flat()) {
      if (!target || target.pattern) return true;
      beside.push(dirname(target.path));
    }
    return hasOrders([...folders, ...beside], { ...orders, list, base });
  }

  async #ordersFor({ name, words }: Program): Promise<Orders | "any" | undefined> {
    const found = isBuiltin(name) || words[0]?.text.includes("/") ? undefined : await this.#policy.programs?.found?.(name);
    const managed = found && filesOfManager(found);
    if (managed === "any") return "any";
    const names = [...(ordersFor(name) ?? []), ...(managed ?? [])];
    if (names.length === 0) return undefined;
    return { names, matters: name === "go" || name === "gofmt" ? (file) => this.#switches(file, found) : undefined };
  }

  async #switches(file: string, go: FoundProgram | undefined): Promise<boolean> {
    const read = (path: string): Promise<string | undefined> | undefined => this.#policy.readText?.(path).catch(() => undefined);
    const text = await read(file);
    const own = go && (await read(join(dirname(dirname(go.real)), "VERSION")));
    return text === undefined || switchesToolchain(text, own);
  }
}
