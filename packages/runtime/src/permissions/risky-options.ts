import { gitRisk } from "./git-risk.ts";
import { isInterpreter } from "./interpreters.ts";
import { type Effect, type GivenOption, optionsOf, readWords, type Row } from "./option-grammar.ts";
import { rowOf, ruleRowOf } from "./program-table.ts";
import { readAwk, readPrintf, readTest } from "./read-only-scripts.ts";
import { filterReach, makeVariableRisk, sedRisk, sqliteRisk, urlRisk } from "./script-risks.ts";
import type { Program } from "./parsed-command.ts";
import { isOrdinaryName } from "./shell-variables.ts";
import { isPlain, mayBeOption, type ShellWord, unknownWord } from "./shell-words.ts";
import { tellsFacts } from "./shown-files.ts";
import { subcommandRisk } from "./subcommand-risks.ts";
import { extractionRisk } from "./written-files.ts";

/**
 * Why a rule with a wildcard does not cover this call although its words fit; undefined when it does.
 * Words before `from` were written out in the rule and are what its author wanted.
 */
export function riskOf(program: Pick<Program, "name" | "words">, from: number): string | undefined {
  const { name, words } = program;
  const rest = words.slice(Math.max(from, 1));
  const row = ruleRowOf(name);
  const own = ownRisk(program, { rest, from, row }) ?? subcommandRisk(name, words, from) ?? extractionRisk(program);
  return own ?? (row ? optionRisk({ name, words, row }, from) : undefined);
}

function ownRisk(
  { name, words }: Pick<Program, "name" | "words">,
  { rest, from, row }: { rest: readonly ShellWord[]; from: number; row: Row | undefined },
): string | undefined {
  switch (name) {
    case "git":
      return gitRisk(words, from);
    case "test":
    case "[":
      return readTest(words) ? undefined : `${name} may evaluate a word`;
    case "printf":
      return readPrintf(words.slice(1)) ? undefined : "printf may evaluate a word";
    case "sed":
      return row && sedRisk(rest, row);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return from > 1 || readAwk(words.slice(1)) ? undefined : "the program of awk may run, read or write something else";
    case "jq":
    case "yq":
      return filterReach({ name, words });
    case "go":
      return linkerRisk(rest);
    case "gh":
      return rest.some((word) => word.text === "--") ? "gh hands words on to git" : undefined;
    case "sqlite3":
      return sqliteRisk(rest);
    case "curl":
    case "wget":
      return urlRisk(name, rest);
    case "make":
    case "gmake":
      return makeVariableRisk(rest);
    case "find":
      return findRisk(rest, findActions);
    case "gcc":
    case "g++":
    case "cc":
    case "c++":
    case "clang":
    case "clang++":
      return compilerRisk(name, rest);
    case "export":
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
    case "read":
    case "unset":
    case "wait":
    case "getopts":
    case "mapfile":
    case "readarray":
      return declarationRisk(name, rest);
  }
  if (isEditor(name)) return `${name} writes and runs what it is told`;
  const set = /^(?:p?npm|yarn)$/.test(name) && rest.find((word) => /^--config\./.test(word.text));
  if (set) return `${name} ${set.text} can make it do something else`;
  const started = startOfProgram(name, words[1]);
  const program = words[started];
  if (started > 0 && from > started && program)
    return riskOf({ name: program.text, words: words.slice(started) }, from - started);
  return isInterpreter(name) && from >= 2 ? codeRisk(name, words, from) : undefined;
}

/** Editors and debuggers: their commands come from options, files and the input, and lead anywhere. */
export function isEditor(name: string): boolean {
  return editors.test(name);
}

const editors =
  /^(?:r?ed|ex|r?vim?|nvim|r?view|[gen]?vimdiff|vim\.\w+|vimx|g?vim|emacs|emacsclient|nano|pico|micro|joe|kak|hx|gdb|lldb)$/;

/** The word at which the program stands that these start; 0 for others. */
function startOfProgram(name: string, second: ShellWord = unknownWord): 0 | 1 | 2 {
  if (/^(?:npx|bunx|uvx)$/.test(name)) return 1;
  const behind = /^(?:python[\d.]*|pypy3?)$/.test(name) ? /^-m$/ : starters.get(name);
  return behind?.test(second.text) ? 2 : 0;
}

/** Subcommands behind which another program stands. */
const starters: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^(?:exec|x)$/],
  ["pnpm", /^(?:exec|dlx)$/],
  ["yarn", /^(?:exec|dlx|run)$/],
  ["uv", /^run$/],
  ["poetry", /^run$/],
  ["pipenv", /^run$/],
  ["bundle", /^exec$/],
]);

/** Words whose value bash evaluates, and variables that bash or programs give a meaning to. */
function declarationRisk(name: string, words: readonly ShellWord[]): string | undefined {
  for (const word of words) {
    if (word.text.includes("[") || word.text.includes("(") || word.kind !== "exact" || /^[-+].*[inaA]/.test(word.text))
      return `${name} may evaluate a word`;
    const variable = /^[A-Za-z_]\w*/.exec(word.text)?.[0];
    if (variable !== undefined && !isOrdinaryName({ name: variable }, undefined))
      return `${variable} may change what other programs do`;
  }
  return undefined;
}

const findActions = /^-(?:delete|fprint.*|fls|files0-from|L|H|follow)$/;

export function findRisk(words: readonly ShellWord[], actions: RegExp): string | undefined {
  const action = words.find((word) => isPlain(word) && actions.test(word.text));
  return action && `find ${action.text} changes or reads other files`;
}

/** Their values stand right behind the name, without a sign in between. */
function compilerRisk(name: string, words: readonly ShellWord[]): string | undefined {
  const option = words.find((word) =>
    /^(?:-B|-W[lpa],|-fplugin|-specs|--specs|-T|-Xlinker|-fuse-ld|--?ld-path|@)/.test(word.text),
  );
  return option && `${name} ${option.text} can run or write something else`;
}

/** The linker and the compiler that go starts may be named among their flags. */
function linkerRisk(words: readonly ShellWord[]): string | undefined {
  const isOther = ({ text }: ShellWord): boolean => /(?:^|[\s=,'"])-{1,2}(?:extld\w*|extar|fplugin|B)\b/.test(text);
  const isFlags = (word: ShellWord | undefined): boolean => word !== undefined && /^--?(?:ld|gccgo|gc|asm)flags/.test(word.text);
  const isHidden = (word: ShellWord, at: number): boolean => !isPlain(word) && (isFlags(word) || isFlags(words[at - 1]));
  return words.some(isHidden) || words.some(isOther) ? "the flags of go can run something else" : undefined;
}

/** A rule that names more than the interpreter is about that script or check, not about other code. */
function codeRisk(name: string, words: readonly ShellWord[], from: number): string | undefined {
  const isScript = words.slice(1, from).some((word) => isPlain(word) && !word.text.startsWith("-"));
  const isRunner = name === "bun" || name === "deno";
  if (isScript && !isRunner) return undefined;
  const code = words.slice(from).find((word) => !isPlain(word) || codeOption.test(word.text));
  return code && `${name} ${code.text.replace(/=.*/s, "")} can run other code`.replace("  ", " ");
}

const codeOption =
  /^(?:-[a-zA-Z]*[cemrRIEpC](?:$|[^a-zA-Z-].*)|--(?:eval|print|require|import|loader|experimental-.*|preload|env-file.*|config.*|import-map|cwd|allow-.*|test-reporter.*|inspect.*|build-snapshot.*|snapshot-blob.*|coverage-dir|reporter-outfile|cache-dir|cpu-prof-dir|heap-prof-dir|tsconfig-override|install|run|rcfile|init-file|script-shell|shell))(?:=|$)/;

function optionRisk(
  { name, words, row }: { name: string; words: readonly ShellWord[]; row: Row },
  from: number,
): string | undefined {
  const { options, operands, doubt } = readWords(row, words.slice(1));
  // ssh takes options on both sides of the host.
  const [, ...behind] = name === "ssh" ? operands.map(({ word }) => word) : [];
  const [first] = behind;
  if (first && mayBeOption(first)) return optionRisk({ name, words: [unknownWord, ...behind], row }, 1);
  const later = options.filter(({ at }) => at + 1 >= from);
  const suffix = later.find((option) => isSuffix(name, option) && (copiers.test(name) || option.value?.text.includes("/")));
  if (suffix) return `${name} ${suffix.name} can write other files`;
  const risk = later.find((option) => isRisky(name, option));
  if (risk) return `${name} ${risk.name} can ${verbs[isFollowing(name, risk) ? "follows" : risk.effect]}`;
  if (doubt && /several words/.test(doubt)) return `${name}: ${doubt}`;
  if (doubt && !tellsFacts(name) && hasRiskyOption(name, row)) return `${name}: ${doubt}`;
  return undefined;
}

/** What they keep of an old file gets a name that is written nowhere: `cp -bS rc a .bash` writes `.bashrc`. */
const copiers = /^(?:cp|mv|ln|install)$/;

/** What is put behind a name must not lead elsewhere. */
function isSuffix(name: string, { name: option }: GivenOption): boolean {
  return (option === "-S" && /^(?:cp|mv|ln|install|gzip|xz)$/.test(name)) || /^--(?:additional-)?suffix$/.test(option);
}

/** A word that turns out to be an option does harm only where there is one that does. */
function hasRiskyOption(name: string, row: Row): boolean {
  return optionsOf(row).some(({ name: option, effect }) => isRisky(name, { name: option, effect }));
}

const verbs: Readonly<Record<Effect | "unknown", string>> = {
  looks: "look",
  recurses: "look",
  follows: "follow links out of the project",
  reads: "read other files",
  lists: "read files that are not written out",
  changes: "change something else",
  moves: "work elsewhere",
  writes: "write other files",
  configures: "be told to do something else",
  runs: "run something else",
  unknown: "do more than is known",
};

function isRisky(name: string, { name: option, effect, value }: Pick<GivenOption, "name" | "effect" | "value">): boolean {
  if (isFollowing(name, { name: option }) || effect === "follows") return true;
  if (effect === "writes") return !writers.has(name);
  if (effect === "unknown") return rowOf(name) !== undefined && !openRows.has(name) && !/^--(?:help|version)$/.test(option);
  if (effect === "moves") return !(movers.has(name) && value !== undefined && option !== "-P");
  if (name === "make" || name === "gmake") return effect === "configures" || (effect === "runs" && option !== "*=");
  return effect === "runs" || effect === "configures" || effect === "lists" || effect === "changes";
}

/** Options by which what is behind links is read with the rest of a folder. */
const following: Readonly<Record<string, RegExp>> = {
  tar: /^(?:-h|--dereference)$/,
  rsync: /^(?:-L|-k|--copy-links|--copy-unsafe-links|--copy-dirlinks)$/,
  cp: /^(?:-L|-H|--dereference)$/,
};

function isFollowing(name: string, option: { readonly name: string }): boolean {
  return Object.hasOwn(following, name) && following[name]?.test(option.name) === true;
}

/** Their work is to write: the files are judged, one by one, instead of the option. */
const writers: ReadonlySet<string> = new Set(
  (
    "cp mv ln install touch mkdir rmdir tee rm unlink truncate shred chmod chown chgrp dd split csplit sed tar zip unzip gcc g++ cc c++ clang " +
    "clang++ go cargo pytest rsync scp gzip bzip2 xz zstd tsc esbuild rollup webpack openssl ffmpeg iconv gh"
  ).split(" "),
);

/** Where they go is judged like a file that is written or read. */
const movers: ReadonlySet<string> = new Set(["tar", "fd", "patch"]);

/** Their rows name what is dangerous, or their words are judged by themselves; options that are not there do no more than the program is allowed for. */
const openRows: ReadonlySet<string> = new Set(
  "npm pnpm yarn go cargo pytest gcc g++ cc c++ clang clang++ psql mysql docker kubectl helm terraform ffmpeg eslint sqlite3 man yq find test [".split(
    " ",
  ),
);
