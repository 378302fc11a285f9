import { readGit } from "./git-commands.ts";
import { isHarmlessJq } from "./jq-filters.ts";
import { readLooking, rowOfLooks } from "./looking-options.ts";
import { optionsOf, readWords, type ReadWords, type Row } from "./option-grammar.ts";
import { lookingCommand, lookingRowOf, rowOf } from "./program-table.ts";
import { readAwk, readFind, readJq, readPrintf, readSed, readTest, readYq } from "./read-only-scripts.ts";
import type { Program } from "./parsed-command.ts";
import { exactWord, isPlain, type ShellWord } from "./shell-words.ts";

/** What a program that only looks would touch. */
export type Looking = {
  readonly reads: readonly ShellWord[];
  /** Files it changes: only for those that do nothing but that, such as `mkdir`. */
  readonly writes: readonly ShellWord[];
  /** Where `git` looks for a repository, whose configuration it obeys. */
  readonly repository?: ShellWord;
  /** A `git` that opens the files it is told, whatever links are on the way. */
  readonly follows?: true;
  /** It asks somebody on the network. */
  readonly network?: true;
  /** Of what it reads it shows names and facts only. */
  readonly names?: true;
  /** Variables of the environment it shows; `all` of them. */
  readonly environment?: "all" | readonly string[];
  /** It starts others by their names. */
  readonly starts?: true;
  /** It takes modules from the folder it is in. */
  readonly modules?: true;
};

export const looksAtNothing: Looking = { reads: [], writes: [] };

/** Programs that do nothing but create or move files: as good as editing those files. */
const fileWriters: ReadonlyMap<string, Row> = new Map(
  Object.entries({
    mkdir: "-pv --parents --verbose",
    touch: "-acm --no-create",
    tee: "-ai --append",
    cp: "-fnpuv --force --no-clobber --preserve --update --verbose",
    mv: "-fnuv --force --no-clobber --update --verbose",
  }).map(([name, looks]) => [name, rowOfLooks(looks)]),
);

/** What the program would read and change, when it is certain that it does nothing else. Undefined otherwise. */
export function lookingOf(program: Program): Looking | undefined {
  const { name, words } = program;
  const rest = words.slice(1);
  if (!isSystemName(words[0])) return undefined;
  switch (name) {
    case "git":
      return readGit(rest);
    case "sed":
      return readSed(rest);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return readAwk(rest);
    case "jq":
      return readJq(rest);
    case "yq":
      return readYq(rest);
    case "node":
      return readNode(rest);
    case "find":
      return readFind(rest);
    case "printf":
      return readPrintf(rest);
    case "test":
    case "[":
      return readTest(rest);
    case "cd":
      return readFolder(rest);
    case "xargs":
      return readXargs(rest);
    case "echo":
      return looksAtNothing;
    case "command":
      return isPlain(rest[0]) && /^-[vV]$/.test(rest[0].text) ? looksAtNothing : undefined;
    case "export":
    case "readonly":
    case "local":
    case "declare":
    case "typeset":
    case "unset":
    case "read":
    case "mapfile":
    case "readarray":
    case "set":
    case "shopt":
    case "wait":
      // The parser has seen what they change; those with no word behind them show all variables.
      return rest.length === 0 && /^(?:export|readonly|declare|typeset|set)$/.test(name)
        ? { ...looksAtNothing, environment: "all" }
        : looksAtNothing;
  }
  const writer = fileWriters.get(name);
  if (writer) return readWriter(name, writer, rest);
  const command = lookingCommand(name, rest);
  if (command && name === "gh" && !isHarmlessGh(command.row, command.words)) return undefined;
  if (command) return readByRow(name, command.row, command.words);
  const row = lookingRowOf(name);
  return row && readByRow(name, row, rest);
}

/** Every option is known to look; what it reads, and how far links lead it, is told. */
function readByRow(name: string, row: Row, words: readonly ShellWord[]): Looking | undefined {
  const read = readWords(row, row.names ? words.map(whereFound) : words);
  const harmless = ({ exact, effect }: ReadWords["options"][number]): boolean =>
    exact && /^(?:looks|recurses|follows|reads)$/.test(effect);
  if (row.whole && row.operands === "text") return looksAtNothing;
  if (read.doubt !== undefined || !read.options.every(harmless) || !isGiven(row.only, read.options)) return undefined;
  if (row.allows && !read.operands.every(({ word }) => isPlain(word) && row.allows?.test(word.text))) return undefined;
  const files = read.options.flatMap(({ effect, value }) => (effect === "reads" && value ? [value] : []));
  const all = operandsRead(name, row, read);
  const named = isGiven(row.itself ?? "?", read.options) ? all?.filter((word) => !isAbove(word)) : all;
  const operands = named?.flatMap((word) => withSuffixes(word, row));
  if (row.hosts && files.some(({ text }) => text.includes(":"))) return undefined;
  if (!operands || (operands.some((word) => word.kind === "below" && word.needs?.names) && hasTellingNames(row)))
    return undefined;
  const recurses = read.options.some(({ effect }) => effect === "recurses");
  const dereferences = row.dereferences?.split(" ") ?? [];
  const isDereferenced = read.options.some(({ name: option }) => dereferences.includes(option));
  const follows = (recurses && isDereferenced) || read.options.some(({ effect }) => effect === "follows");
  const start = (follows || isDereferenced) && operands.length === 0 ? [exactWord(".")] : operands;
  const needs = { links: true, names: false };
  const throughLinks = (word: ShellWord): ShellWord => {
    // Of links in the folder, what they lead to is told.
    if (!follows) return { ...word, needs: { ...needs, shallow: true } };
    return isPlain(word) ? { ...word, kind: "below", needs } : word;
  };
  const reads =
    row.operands === "reads folders"
      ? [...files, ...operands].map((word) => ({ ...word, needs }))
      : [...files, ...(follows || isDereferenced ? start.map(throughLinks) : start)];
  const isShallow = !recurses && !follows;
  const variables = row.environment && variablesShown(read);
  if (row.environment && !variables) return undefined;
  return {
    reads,
    writes: [],
    ...(row.network && { network: true }),
    ...(row.git && { repository: exactWord(".") }),
    ...(row.names && isShallow && { names: true }),
    ...(variables && { environment: variables }),
    ...(row.starts && { starts: true }),
    ...(row.modules && { modules: true }),
  };
}

/** A program of the system may be told of, as `ls /usr/bin/x` does; its name alone, as of a function, is a file of the folder. */
function whereFound(word: ShellWord): ShellWord {
  return word.program === undefined ? word : exactWord(word.program);
}

/** Of each group of options one. */
function isGiven(only: string | undefined, options: ReadWords["options"]): boolean {
  const groups = only?.split(" ").map((group) => group.split("|")) ?? [];
  return groups.every((names) => options.some(({ name }) => names.includes(name)));
}

/** What is tried where there is no file of that name may be a link. */
function withSuffixes(word: ShellWord, { suffixes }: Row): readonly ShellWord[] {
  if (suffixes === undefined || word.kind !== "exact") return [word];
  return [word, ...suffixes.split(" ").map((suffix) => ({ ...word, text: word.text + suffix }))];
}

function variablesShown({ operands }: ReadWords): "all" | readonly string[] | undefined {
  if (operands.length === 0) return "all";
  return operands.every(({ word }) => isPlain(word)) ? operands.map(({ word }) => word.text) : undefined;
}

/** A file may have a name that is an order to the program: `strings` reads what `@file` lists. */
function hasTellingNames(row: Row): boolean {
  return optionsOf(row).some(({ name, effect }) => !name.startsWith("-") && effect !== "looks");
}

function operandsRead(name: string, row: Row, { operands, options }: ReadWords): readonly ShellWord[] | undefined {
  const words = operands.map(({ word }) => word);
  switch (row.operands) {
    case "text":
      return [];
    case "none":
      return words.length === 0 ? [] : undefined;
    case "reads":
    case "reads folders":
      return words;
    case "reads first":
      return words.slice(0, 1);
    case "reads one":
      return words.length <= 1 && !words[0]?.splits ? words : undefined;
    case "pattern reads": {
      const given = options.some((option) => /^(?:-e|-f|--regexp|--file|--files|--type-list)$/.test(option.name));
      return given || words[0]?.kind === "below" ? words : words.slice(1);
    }
    case "else":
      return name === "ps" && !options.every(showsKnownFields) ? undefined : readElse(name, words);
    default:
      return undefined;
  }
}

function readElse(name: string, words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  switch (name) {
    case "date":
      // An operand without `+` would set the time; the row has taken those with it.
      return words.length === 0 ? [] : undefined;
    case "npm":
      return isRegistryName(words[0]) && words.every(isPlain) ? [] : undefined;
    case "gh":
      return words.length === 1 && isPlain(words[0]) && !/:|^\/\//.test(words[0].text) ? [] : undefined;
    case "ps":
      // `e` would show the environment of processes.
      return words.every((word) => isPlain(word) && /^a?u?x?(?:ww|f)?$/.test(word.text)) ? [] : undefined;
    default:
      return undefined;
  }
}

/** Fields of processes that say nothing of their variables. */
const processFields = new Set(
  (
    "pid ppid pgid pgrp sid sess session tty tt tname tpgid stat state s f flags user uid euser euid ruser ruid suser suid group gid egroup egid rgroup rgid " +
    "comm command cmd args ucmd ucomm fname pcpu %cpu c cp pmem %mem rss rsz rssize vsz vsize sz size drs trs time cputime cputimes etime etimes start " +
    "lstart start_time stime bsdstart bsdtime ni nice pri priority opri rtprio nlwp thcount lwp spid tid tgid psr cls class policy sched wchan cgroup " +
    "maj_flt min_flt majflt minflt unit slice label login logname"
  ).split(" "),
);

function showsKnownFields({ name, value }: ReadWords["options"][number]): boolean {
  if (name !== "-o" && name !== "--format") return true;
  const fields = isPlain(value) ? value.text.split(/[\s,]+/).filter(Boolean) : ["?"];
  return fields.every((field) => processFields.has(field.replace(/[=:].*/s, "")));
}

/** What it runs is judged for itself; where its words come from is told by its options. */
function readXargs(words: readonly ShellWord[]): Looking | undefined {
  const row = rowOf("xargs");
  const read = row && readWords(row, words);
  return read && read.doubt === undefined && read.options.every(({ exact, effect }) => exact && effect === "looks")
    ? looksAtNothing
    : undefined;
}

/** `node --check` parses a file and runs nothing of it. */
function readNode(words: readonly ShellWord[]): Looking | undefined {
  const [option, file, ...more] = words;
  const isCheck = isPlain(option) && /^(?:--check|-c)$/.test(option.text) && file && !file.text.startsWith("-") && !file.splits;
  return isCheck && more.length === 0 ? { ...looksAtNothing, reads: [file] } : undefined;
}

/** Not a folder, an address or a repository, which npm would build. */
function isRegistryName(word: ShellWord | undefined): boolean {
  return isPlain(word) && /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?:@[\w.^~<>=*-]+)?$/.test(word.text);
}

/** Reads what it asks for: no other method than GET, no mutation, no file, and no filter that shows the environment. */
function isHarmlessGh(row: Row, words: readonly ShellWord[]): boolean {
  if (!words.every(isPlain)) return false;
  const { options, operands } = readWords(row, words);
  const isQuery = operands[0]?.word.text === "graphql";
  return options.every(({ name, value = exactWord("") }) => {
    if (name === "-q" || name === "--jq") return isHarmlessJq(value.text);
    if (name === "-X" || name === "--method") return value.text === "GET";
    if (!/^(?:-[fF]|--(?:raw-)?field)$/.test(name)) return true;
    return isQuery && !/^[^=]*=@/s.test(value.text) && !/mutation|subscription/i.test(value.text);
  });
}

function readFolder(words: readonly ShellWord[]): Looking | undefined {
  const operands = words.filter((word) => !(isPlain(word) && /^-[LPe]+$|^--$/.test(word.text)));
  const isKnown = operands.length <= 1 && operands.every((word) => word.top || (word.kind === "exact" && word.text !== "-"));
  const reads = operands.filter((word) => !word.top && !isAbove(word));
  return isKnown ? { ...looksAtNothing, reads } : undefined;
}

/** That there are folders above is no news; what is done there is judged there. */
function isAbove({ kind, text }: ShellWord): boolean {
  return kind === "exact" && /^(?:\.\.\/?)+$/.test(text);
}

/** By its bare name, or where the system keeps it: a program of the project may be called `ls` too. */
export function isSystemName(word: ShellWord | undefined): boolean {
  return (
    isPlain(word) &&
    (!word.text.includes("/") || /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/.test(word.text))
  );
}

function readWriter(name: string, row: Row, words: readonly ShellWord[]): Looking | undefined {
  const options = readLooking(words, row);
  if (!options?.operands.every((word) => word.kind === "exact")) return undefined;
  const { operands } = options;
  if (name !== "cp" && name !== "mv") return { ...looksAtNothing, writes: operands };
  const target = operands.at(-1);
  const sources = operands.slice(0, -1);
  if (!target || sources.length === 0) return undefined;
  // Into a folder, the name of the source counts.
  const inFolder = sources.map((source) => ({
    ...target,
    text: `${target.text}/${source.text.replace(/\/+$/, "").replace(/.*\//s, "")}`,
  }));
  return { ...looksAtNothing, reads: sources, writes: [target, ...inFolder, ...(name === "mv" ? sources : [])] };
}
