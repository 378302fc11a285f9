import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";

/** The flags of a command that are its own. */
export type OwnFlags = { readonly switches: readonly string[]; readonly values: readonly string[] };

export type OwnWords = {
  has(flag: string): boolean;
  value(flag: string): string | undefined;
  /** Of a flag that may be given several times. */
  values(flag: string): readonly string[];
  /** What is left: positionals, and flags of others where `takeOwnWords` was used. */
  readonly rest: readonly string[];
};

/** Takes a command's own flags out of its words and leaves the others alone: the caller knows those. */
export function takeOwnWords(args: readonly string[], flags: OwnFlags): OwnWords {
  const given = new Set<string>();
  const values = new Map<string, string[]>();
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    const [flag = "", inline] = word.split(/=(.*)/s);
    if (word === "--") {
      rest.push(...args.slice(index));
      break;
    }
    if (flags.switches.includes(word)) given.add(word);
    else if (flags.values.includes(flag)) {
      const value = inline ?? args[++index];
      if (value === undefined) throw new RuntimeError("usage", `${flag} needs a value`);
      values.set(flag, [...(values.get(flag) ?? []), value]);
    } else rest.push(word);
  }
  return {
    has: (flag) => given.has(flag),
    value: (flag) => values.get(flag)?.at(-1),
    values: (flag) => values.get(flag) ?? [],
    rest,
  };
}

/** The same for a command that knows no other flags and takes no positionals. */
export function parseOwnWords(
  args: readonly string[],
  flags: OwnFlags & { readonly command: string; readonly usage: string },
): OwnWords {
  const words = takeOwnWords(args, flags);
  const [first] = words.rest;
  if (first === undefined) return words;
  const guess = first.startsWith("-") ? nearest(first, [...flags.switches, ...flags.values]) : undefined;
  throw new RuntimeError(
    "usage",
    `${flags.command} does not take ${first}${guess ? `; did you mean ${guess}?` : ""}\n${flags.usage}`,
  );
}
