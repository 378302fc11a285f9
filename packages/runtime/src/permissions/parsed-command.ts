import type { Moment } from "./moments.ts";
import type { Places } from "./places.ts";
import type { ShellWord } from "./shell-words.ts";

export type Setting = { readonly name: string; readonly value: ShellWord | undefined; readonly exported: boolean };

/** One program (or builtin) that the command would run. */
export type Program = {
  /** Without its folder; empty when it is not known which program it is. */
  readonly name: string;
  readonly words: readonly ShellWord[];
  readonly settings: readonly Setting[];
  readonly places: Places;
  readonly moment: Moment;
  /** Something is put into its input. */
  readonly isFed: boolean;
  /** What it runs in turn, such as `rm` in `sudo rm`. */
  readonly inside: readonly Program[];
  /** Does nothing but run what is inside. */
  readonly transparent: boolean;
  /** The word at which what is inside starts, where it is part of these words. */
  readonly insideAt: number | undefined;
  /** Why not everything it runs can be seen. */
  readonly hidden: string | undefined;
};

export type FileUse = {
  readonly word: ShellWord;
  readonly places: Places;
  readonly moment?: Moment | undefined;
  /** Names and facts are looked at, not what files say. */
  readonly namesOnly?: true | undefined;
};

/** What a command line would do, as far as its text tells. */
export type ParsedCommand = {
  readonly programs: readonly Program[];
  /** Targets of redirections. */
  readonly writes: readonly FileUse[];
  readonly reads: readonly FileUse[];
  /** Patterns whose matches loops and arrays hold. */
  readonly patterns: readonly FileUse[];
  /** Files that `[[ … ]]` asks about. */
  readonly tests: readonly FileUse[];
  /** Variables it sets in any way. */
  readonly settings: readonly Setting[];
  /** False: it may run programs that are not listed. */
  readonly understood: boolean;
  readonly reason: string | undefined;
  /** It was too large to be looked at whole. */
  readonly tooLarge: boolean;
};
