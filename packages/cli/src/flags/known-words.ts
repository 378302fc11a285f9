import { type Flag, flags } from "./flags.ts";
import { refusedFlags } from "./refused-flags.ts";

/**
 * Command-line words of a program that uses an SDK. It may give flags of other releases: those that nobody knows are passed over with their
 * values. Prompts come on stdin, so that each word is a flag or the value of one.
 */
export function knownWords(argv: readonly string[]): { words: string[]; ignored: string[] } {
  const words: string[] = [];
  const ignored: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    const [written = ""] = word.split("=", 1);
    const flag = (flags as readonly Flag[]).find((known) => spellings(known).includes(written));
    const isUnknown = word.startsWith("--") && word !== "--" && !flag && !Object.hasOwn(refusedFlags, written);
    if (isUnknown) ignored.push(`The flag ${written} is not known, and was passed over`);
    if (!isUnknown) words.push(word);
    const takesNext =
      !word.includes("=") &&
      (flag ? flag.kind !== "switch" && flag.kind !== "optional" : isUnknown && !argv[at + 1]?.startsWith("-"));
    const next = takesNext ? argv[at + 1] : undefined;
    if (next === undefined) continue;
    at++;
    if (!isUnknown) words.push(next);
  }
  return { words, ignored };
}

function spellings({ name, short, aliases = [] }: Flag): string[] {
  return [`--${name}`, ...(short ? [`-${short}`] : []), ...aliases.map((alias) => `--${alias}`)];
}
