import type { Findings } from "./findings.ts";
import type { Moments } from "./moments.ts";
import type { Program, Setting } from "./parsed-command.ts";
import type { PipeInput } from "./pipe-input.ts";
import { placesAfterCd } from "./places.ts";
import { builtinObjection } from "./shell-builtins.ts";
import type { ShellScope } from "./shell-scope.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";
import { commandsFromInput } from "./code-runners.ts";
import type { GivenName, Inner } from "./inner.ts";
import { findInner } from "./wrappers.ts";

const maxPrograms = 1_000;
/** A program within a program takes much of the stack. */
const programLevels = 80;

/** What a script is read by, and what is found out with it. */
export type Reading = {
  readonly findings: Findings;
  readonly scope: ShellScope;
  readonly input: PipeInput;
  readonly moments: Moments;
  /** Reads a script that is given to a program. */
  readScript(text: string, given?: GivenName | undefined): void;
  /** Runs this so many levels deeper; levels have an end. */
  deeper<Result>(levels: number, run: () => Result): Result;
};

/** Follows programs that run other programs, scripts and code. */
export class ProgramReader {
  readonly #reading: Reading;
  #count = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  read(words: readonly ShellWord[], settings: readonly Setting[]): Program {
    const { findings, scope, input, moments } = this.#reading;
    if (++this.#count > maxPrograms) throw new RangeError(`it runs more than ${maxPrograms} programs`);
    if (words.some((word) => word.tilde && !/^~(?:\/|$)/.test(word.text))) findings.doubt("it names the home of another user");
    const name = nameOf(words);
    if (name === "") findings.doubt("the name of a program is not written out");
    findings.doubt(builtinObjection(name, words));
    const { places } = scope;
    const inner = findInner(name, words, input.namesAt(places));
    const moment = moments.next();
    const inside = this.#inside(inner);
    // Where a search starts is settled before it runs anything.
    moments.mix(moment.at + 1, /^(?:find|xargs|watch)$/.test(name));
    if (name === "cd") scope.places = placesAfterCd(words, scope.places);
    if (/^(?:pushd|popd|source|\.)$/.test(name)) scope.places = undefined;
    const programs = inner.filter((one) => one.type === "program");
    return {
      name,
      words,
      places,
      moment,
      isFed: input.isFed,
      settings: [...settings, ...programs.flatMap((one) => one.settings ?? [])],
      inside,
      transparent: inner.length > 0 && inner.every((one) => one.type !== "hidden" && one.transparent),
      insideAt: programs[0]?.at,
      hidden: inner.find((one) => one.type === "hidden")?.reason,
    };
  }

  /** A shell that reads commands from its input: those that are written out count for what is forbidden. */
  withInput(program: Program, texts: readonly string[]): Program {
    const { scope, deeper } = this.#reading;
    if (!readsInput(program)) return program;
    const inside = deeper(programLevels, () => texts.flatMap((text) => scope.apart(() => this.#ofScript(text))));
    return { ...program, inside: [...program.inside, ...inside] };
  }

  #inside(inner: readonly Inner[]): Program[] {
    const { scope, deeper } = this.#reading;
    const find = (one: Inner): Program[] => (isInShell(one) ? this.#of(one) : scope.apart(() => this.#of(one)));
    return deeper(programLevels, () => inner.flatMap(find));
  }

  #of(inner: Inner): Program[] {
    switch (inner.type) {
      case "hidden":
        return [
          ...(inner.candidates ?? []).map((words) => this.read(words, [])),
          ...(inner.scripts ?? []).flatMap((text) => this.#ofScript(text)),
        ];
      case "program":
        return [this.read(inner.words, inner.settings ?? [])];
      case "script":
        return this.#ofScript(inner.text, inner.given);
    }
  }

  #ofScript(text: string, given?: GivenName | undefined): Program[] {
    const { findings, readScript } = this.#reading;
    return findings.programsOf(() => readScript(text, given));
  }
}

function nameOf([first]: readonly ShellWord[]): string {
  return isPlain(first) ? first.text.slice(first.text.lastIndexOf("/") + 1) : "";
}

/** Where it goes, the shell goes. */
function isInShell(inner: Inner): boolean {
  return inner.type !== "hidden" && inner.sameShell;
}

function readsInput(program: Program): boolean {
  return program.hidden === commandsFromInput || program.inside.some(readsInput);
}
