import type { Setting } from "./parsed-command.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/** What a program would run in turn. */
export type Inner =
  | {
      readonly type: "program";
      readonly words: readonly ShellWord[];
      /** Where its words start among the outer ones. */
      readonly at: number | undefined;
      readonly settings?: readonly Setting[];
      /** Run by the shell itself, which goes where it goes. */
      readonly sameShell: boolean;
      /** The outer program does nothing of its own. */
      readonly transparent: boolean;
    }
  | {
      readonly type: "script";
      readonly text: string;
      /** What `$0` or `$1` holds in it, where that is the name of a file. */
      readonly given?: GivenName | undefined;
      readonly sameShell: boolean;
      readonly transparent: boolean;
    }
  | {
      readonly type: "hidden";
      readonly reason: string;
      /** What it might run: enough to forbid, not to allow. */
      readonly candidates?: readonly (readonly ShellWord[])[];
      readonly scripts?: readonly string[];
    };

export type GivenName = readonly [parameter: string, name: ShellWord];

export type Words = readonly ShellWord[];

/** It runs something, in a way that is not followed. Every word is a candidate for what that is. */
export function obscure(name: string, words: Words, isWrapper = true): Inner {
  const reason = `what ${name} runs cannot be told`;
  if (!isWrapper) return { type: "hidden", reason };
  const starts = words
    .flatMap((word, index) => (index > 0 && isPlain(word) && /^[\w./~]/.test(word.text) ? [{ word, index }] : []))
    .slice(0, 8);
  return {
    type: "hidden",
    reason,
    candidates: starts.map(({ index }) => words.slice(index)),
    scripts: starts.flatMap(({ word }) => (/[\s;|&]/.test(word.text) ? [word.text] : [])),
  };
}

export function joined(words: Words, how: { sameShell: boolean; transparent: boolean }): Inner {
  if (!words.every(isPlain)) return { type: "hidden", reason: "code is put together while it runs" };
  return { type: "script", text: words.map((word) => word.text).join(" "), ...how };
}
