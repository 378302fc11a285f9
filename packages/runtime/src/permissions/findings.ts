import type { FileUse, ParsedCommand, Program, Setting } from "./parsed-command.ts";

/** What has been found out about a command line so far. */
export class Findings {
  #programs: Program[] = [];
  readonly writes: FileUse[] = [];
  readonly reads: FileUse[] = [];
  readonly patterns: FileUse[] = [];
  readonly tests: FileUse[] = [];
  readonly settings: Setting[] = [];
  #reason: string | undefined;
  #tooLarge = false;

  addProgram(program: Program): void {
    this.#programs.push(program);
  }

  /** The programs that are found by this, which are not listed beside the others then. */
  programsOf(find: () => void): Program[] {
    const others = this.#programs;
    this.#programs = [];
    find();
    const found = this.#programs;
    this.#programs = others;
    return found;
  }

  /** The first doubt is the one that is told. */
  doubt(reason: string | undefined): void {
    this.#reason ??= reason;
  }

  tooLarge(reason: string): void {
    this.#tooLarge = true;
    this.doubt(reason);
  }

  result(): ParsedCommand {
    const { writes, reads, patterns, tests, settings } = this;
    const [reason, tooLarge] = [this.#reason, this.#tooLarge];
    const programs = this.#programs;
    return { programs, writes, reads, patterns, tests, settings, understood: reason === undefined, reason, tooLarge };
  }
}
