import { isPlain, mayBeOption, type ShellWord } from "./shell-words.ts";

/**
 * What an option makes a program do, from the least to the most:
 * `looks` only changes what is shown; `recurses` into folders; `follows` links on the way; `reads` the file it names (`lists`: a file
 * that names further files); `changes` something that is no file; `moves` the program to another folder; `writes` the file it names,
 * or some file; `configures` the program from elsewhere; `runs` a program or code.
 */
export const effects = [
  "looks",
  "recurses",
  "follows",
  "reads",
  "lists",
  "changes",
  "moves",
  "writes",
  "configures",
  "runs",
] as const;

export type Effect = (typeof effects)[number];

/**
 * How a program takes the words that are no options. `copies`: the last is written, the others are read. `reads first`: the others are
 * names in that file, and `allows` keeps them to words that are written out. `reads folders`: given a folder, it reads the files in it, through links, without being told to.
 */
export type Operands =
  | "text"
  | "none"
  | "reads"
  | "reads one"
  | "reads folders"
  | "reads first"
  | "pattern reads"
  | "writes"
  | "copies"
  | "runs"
  | "else";

/**
 * A program in a few lines. For each effect its options, as text:
 * `-abc` letters without a value · `-n:` a letter with one (attached or next) · `-i?` a letter that may have one attached ·
 * `--long`, `--long:` (`=` or next), `--long?` (`=` only), `--long:a|b` (with no other value) · `-#` a number · `=-TT:` exactly this word, whatever its dashes ·
 * `+?` and `@?` words that start so · `if=` an operand that starts so · `*=` any other operand with `=`.
 */
export type Row = {
  readonly [effect in Effect]?: string;
} & {
  readonly operands: Operands;
  /** Options end at the first operand. */
  readonly ordered?: true;
  /** Its long options have one dash, and letters do not cluster. */
  readonly singleDash?: true;
  /** The first word is a cluster without a dash, as in `tar xzf`. */
  readonly oldCluster?: true;
  /** It asks somebody on the network. */
  readonly network?: true;
  /** It looks only with one of these options; of each group, if there are several. */
  readonly only?: string;
  /** Every option it has is in the row and looks: whatever its words turn out to be, it does no more. */
  readonly whole?: true;
  /** It shows what a folder holds and facts about files, never what a file says. */
  readonly names?: true;
  /** With one of these it tells of a folder itself, and not what is in it. */
  readonly itself?: string;
  /** With one of these it follows links, too, when it recurses. */
  readonly dereferences?: string;
  /** It shows variables of the environment: those its operands name, or all. */
  readonly environment?: true;
  /** It tries these behind a name that is not there. */
  readonly suffixes?: string;
  /** It starts other programs by their names. */
  readonly starts?: true;
  /** It starts git, to look at repositories. */
  readonly git?: true;
  /** It takes `host:file` for a file on another machine. */
  readonly hosts?: true;
  /** It takes modules from the folder it is in. */
  readonly modules?: true;
  /** What its operands may be, where not everything. */
  readonly allows?: RegExp;
  /** Rows of its subcommands, chosen by the first operand. */
  readonly commands?: Readonly<Record<string, Row>>;
};

export type GivenOption = {
  /** As it stands in the table, with its dashes; as written when it is not there. */
  readonly name: string;
  readonly effect: Effect | "unknown";
  /** Absent for options without one. */
  readonly value?: ShellWord | undefined;
  /** Index of the word among the words given. */
  readonly at: number;
  /** Spelled out, not shortened: a shortened name may stand for an option that is not in the table. */
  readonly exact: boolean;
};

export type Operand = { readonly word: ShellWord; readonly at: number };

export type ReadWords = {
  readonly options: readonly GivenOption[];
  readonly operands: readonly Operand[];
  /** Why a word may be something else than it was taken for. */
  readonly doubt: string | undefined;
};

type Arity = "flag" | "value" | "optional";
type Known = {
  readonly name: string;
  readonly effect: Effect;
  readonly arity: Arity;
  /** The only values of which that is known. */
  readonly values?: readonly string[];
};
type Grammar = {
  /** By name, with dashes. */
  readonly known: ReadonlyMap<string, Known>;
  /** Operands that are options by how they start: `if=`, `+`, `@`. */
  readonly starts: readonly Known[];
};

const grammars = new WeakMap<Row, Grammar>();

function grammarOf(row: Row): Grammar {
  const found = grammars.get(row);
  if (found) return found;
  const known = new Map<string, Known>();
  const starts: Known[] = [];
  for (const option of optionsOf(row)) {
    if (/^[-]/.test(option.name)) known.set(option.name, option);
    else starts.push(option);
  }
  const grammar = { known, starts };
  grammars.set(row, grammar);
  return grammar;
}

/** Every option of a row, in the order of effects. */
export function optionsOf(row: Row): Known[] {
  return effects.flatMap((effect) =>
    (row[effect] ?? "")
      .split(" ")
      .filter(Boolean)
      .flatMap((item) => toOptions(item, effect, row)),
  );
}

function toOptions(item: string, effect: Effect, row: Row): Known[] {
  const [, long = "", values] = /^(--[\w-]+):(\w.*)$/.exec(item) ?? [];
  if (values !== undefined) return [{ name: long, effect, arity: "value", values: values.split("|") }];
  if (/^[+@]\?$/.test(item)) return [{ name: item.slice(0, 1), effect, arity: "optional" }];
  if (/^[^-=]/.test(item)) return [{ name: item, effect, arity: "optional" }];
  const arity: Arity = item.endsWith(":") ? "value" : item.endsWith("?") ? "optional" : "flag";
  const name = (arity === "flag" ? item : item.slice(0, -1)).replace(/^=/, "");
  const whole = item.startsWith("=") || name.startsWith("--") || row.singleDash === true || arity !== "flag";
  return whole ? [{ name, effect, arity }] : [...name.slice(1)].map((letter) => ({ name: `-${letter}`, effect, arity }));
}

/** Takes the words behind a program's name apart by its row. Never fails: what is not in the row has the effect `unknown`. */
export function readWords(row: Row, words: readonly ShellWord[]): ReadWords {
  const options: GivenOption[] = [];
  const operands: Operand[] = [];
  let doubt: string | undefined;
  const grammar = grammarOf(row);
  let at = 0;
  for (let word = words[at]; word; word = words[++at]) {
    if (isPlain(word) && word.text === "--") {
      operands.push(...operandsFrom(words, at + 1));
      break;
    }
    const old = row.oldCluster === true && at === 0 && isPlain(word) && /^[A-Za-z]/.test(word.text);
    if (!old && !mayBeOption(word)) {
      const start = startOf(word, grammar);
      if (start) options.push({ ...start, at });
      else if (!row.ordered) operands.push({ word, at });
      else {
        operands.push(...operandsFrom(words, at));
        break;
      }
      continue;
    }
    // A name that is written out up to `=`, or a letter with its value behind it, is certain whatever follows.
    const certain = word.kind === "exact" || /^--[\w-]+=/.test(word.text) || (/^-\w/.test(word.text) && !word.splits);
    if (!certain || word.splits) {
      doubt ??= "a word may turn out to be an option";
      const start = startOf(word, grammar);
      if (start) options.push({ ...start, at });
      operands.push({ word, at });
      continue;
    }
    const step = old ? readOldCluster(word.text, words, grammar) : readOption({ word, words, at, row }, grammar);
    options.push(...step.options);
    doubt ??= step.doubt;
    at = step.next - 1;
  }
  return { options, operands, doubt };
}

function operandsFrom(words: readonly ShellWord[], from: number): Operand[] {
  return words.slice(from).map((word, index) => ({ word, at: from + index }));
}

type Step = { readonly options: readonly GivenOption[]; readonly next: number; readonly doubt?: string | undefined };

type Reading = { readonly word: ShellWord; readonly words: readonly ShellWord[]; readonly at: number; readonly row: Row };

function readOption(from: Reading, grammar: Grammar): Step {
  const { word, at, row } = from;
  const { text } = word;
  if (text.startsWith("--") || row.singleDash === true || (text.length > 2 && grammar.known.has(text)))
    return readLong(from, grammar);
  const number = grammar.known.get("-#");
  if (number && word.kind === "exact" && /^-\d+$/.test(text))
    return { options: [{ name: "-#", effect: number.effect, at, exact: true }], next: at + 1 };
  return readCluster(from, grammar);
}

/** `--name`, `--name=value`, `--name value`. */
function readLong({ word, words, at, row }: Reading, grammar: Grammar): Step {
  const equals = word.text.indexOf("=");
  const written = equals === -1 ? word.text : word.text.slice(0, equals);
  // Go and Java take `--name` for `-name`.
  const name = row.singleDash && written.startsWith("--") && !grammar.known.has(written) ? written.slice(1) : written;
  const longer = (): Known[] => [...grammar.known.values()].filter((one) => one.name.startsWith(written));
  const found = grammar.known.get(name) ?? (written.startsWith("--") ? worst(longer()) : undefined);
  const value = equals === -1 ? undefined : { ...word, text: word.text.slice(equals + 1), tilde: false };
  if (!found) return { options: [{ name: written, effect: "unknown", value, at, exact: false }], next: at + 1 };
  const option = { name: found.name, effect: found.effect, at, exact: found.name === name };
  if (found.arity === "flag" || (found.arity === "optional" && equals === -1))
    return {
      options: [{ ...option, value }],
      next: at + 1,
      doubt: value && found.arity === "flag" ? `${name} takes no value` : undefined,
    };
  const step = value ? { options: [{ ...option, value }], next: at + 1 } : taking(option, words[at + 1], at + 2);
  if (!found.values) return step;
  const isListed = ({ value: given }: GivenOption): boolean => isPlain(given) && found.values?.includes(given.text) === true;
  return { ...step, options: step.options.map((one): GivenOption => (isListed(one) ? one : { ...one, effect: "unknown" })) };
}

/** `-abc`, `-nvalue`, `-an value`. */
function readCluster({ word, words, at }: Reading, grammar: Grammar): Step {
  const options: GivenOption[] = [];
  for (let index = 1; index < word.text.length; index++) {
    const name = `-${word.text[index]}`;
    const found = grammar.known.get(name);
    if (!found) {
      // What follows may be its value or more letters: both readings count.
      const rest = [...word.text.slice(index + 1)].flatMap((letter) => grammar.known.get(`-${letter}`) ?? []);
      options.push({ name, effect: "unknown", value: { ...word, text: word.text.slice(index + 1) }, at, exact: false });
      options.push(...rest.map((one) => ({ name: one.name, effect: one.effect, at, exact: false })));
      return { options, next: at + 1 };
    }
    const option = { name, effect: found.effect, at, exact: true };
    const attached = word.text.slice(index + 1);
    if (found.arity === "flag") options.push(option);
    else if (attached !== "" || word.kind !== "exact") {
      options.push({ ...option, value: { ...word, text: attached, tilde: false } });
      return { options, next: at + 1 };
    } else if (found.arity === "optional") options.push(option);
    else {
      const { options: last, next, doubt } = taking(option, words[at + 1], at + 2);
      return { options: [...options, ...last], next, doubt };
    }
  }
  return { options, next: at + 1, doubt: word.kind === "exact" ? undefined : "a word may hold further options" };
}

/** `tar cIf prog file`: the letters take their values in turn from the words behind. */
function readOldCluster(letters: string, words: readonly ShellWord[], grammar: Grammar): Step {
  const options: GivenOption[] = [];
  let next = 1;
  let doubt: string | undefined;
  for (const letter of letters) {
    const found = grammar.known.get(`-${letter}`);
    const option = { name: `-${letter}`, effect: found?.effect ?? "unknown", at: 0, exact: found !== undefined } as const;
    if (found?.arity !== "value") {
      options.push(option);
      continue;
    }
    const step = taking(option, words[next], next + 1);
    options.push(...step.options);
    doubt ??= step.doubt;
    next = step.next;
  }
  return { options, next, doubt };
}

function taking(option: Omit<GivenOption, "value">, value: ShellWord | undefined, next: number): Step {
  if (!value) return { options: [option], next, doubt: `${option.name} has no value` };
  return {
    options: [{ ...option, value }],
    next,
    doubt: value.splits || value.kind === "glob" ? `the value of ${option.name} may be several words` : undefined,
  };
}

/** An operand that acts as an option: `of=x`, `+cmd`, `@file`, `SHELL=x`. */
function startOf(word: ShellWord, { starts }: Grammar): Omit<GivenOption, "at"> | undefined {
  const found =
    starts.find(({ name }) => name !== "*=" && word.text.startsWith(name) && word.text.length > 1) ??
    (word.text.includes("=") ? starts.find(({ name }) => name === "*=") : undefined);
  if (!found) return undefined;
  const from = found.name === "*=" ? word.text.indexOf("=") + 1 : found.name.length;
  return { name: found.name, effect: found.effect, value: { ...word, text: word.text.slice(from) }, exact: true };
}

/** The option that does the most. */
function worst(options: readonly Known[]): Known | undefined {
  return options.reduce<Known | undefined>(
    (most, one) => (!most || rank(one.effect) > rank(most.effect) ? one : most),
    undefined,
  );
}

function rank(effect: Effect): number {
  return effects.indexOf(effect);
}
