import {
  type ArithmeticExpression,
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from "unbash";
import { isOwnName } from "./bash-names.ts";
import { readWords, type Row } from "./option-grammar.ts";
import { allPlain, plainNames } from "./plain-text.ts";
import { isPlain, readWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** One place of a script that gives a variable a value. */
export type Setter = {
  readonly name: string;
  readonly exported: boolean;
  /** In front of a program: set for that program alone. */
  readonly temporary: boolean;
  /** Only ever digits, if the variables it is made of are; `maybeNothing` among them: or nothing at all. */
  readonly madeOf: readonly string[];
  /** The whole value, where it is written out. */
  readonly text?: string | undefined;
  /** No letter of a pattern in it, if there is none in these variables. Undefined: may hold one. */
  readonly plainOf: readonly string[] | undefined;
};

type Value = Pick<Setter, "madeOf" | "plainOf" | "text">;
/** Made of what no variable is: may be any text. */
const notDigits: readonly string[] = ["*"];
const maybeNothing = "?";
const anyText: Value = { madeOf: notDigits, plainOf: undefined };
const noText: Value = { madeOf: notDigits, plainOf: [] };
const number: Value = { madeOf: [], plainOf: [] };

/**
 * Every variable that this part of a script may set. `any`: it may set others that cannot be told.
 * `computed`: among them some whose names are not written out where they are set.
 */
export type Setters = { readonly setters: readonly Setter[]; readonly any: boolean; readonly computed?: boolean };

export function settersIn(root: SyntaxNode): Setters {
  const setters: Setter[] = [];
  let any = false;
  let computed = false;
  const temporary = new Set<SyntaxNode>();
  const add = (name: string, value: Value, node?: SyntaxNode): void => {
    setters.push({ name, ...value, exported: false, temporary: node !== undefined && temporary.has(node) });
  };
  const visit = (node: SyntaxNode): void => {
    switch (node.type) {
      case "Assignment":
        add(node.name, assignedValue(node), node);
        break;
      case "For":
        add(node.name.value, node.wordlist ? valueOfEach(node.wordlist) : anyText);
        break;
      case "Select":
        add(node.name.value, anyText);
        break;
      case "Coproc":
        add(node.name?.value ?? "COPROC", anyText);
        break;
      case "Command": {
        if (node.name) for (const part of node.prefix) temporary.add(part);
        const found = setByCommand(node);
        any ||= typeof found === "string";
        computed ||= found === "computed";
        if (typeof found !== "string") setters.push(...found);
        break;
      }
      default:
        setters.push(...setByTheWay(node));
    }
    forEachChild(node, visit);
  };
  visit(root);
  return { setters, any, computed };
}

/** What a piece of syntax sets where it stands: `${x:=a}`, `((x = 1))`, `{x}>`. */
export function setByTheWay(node: SyntaxNode): Setter[] {
  const set = (name: string | undefined, value: Value): Setter[] => [
    { name: name ?? "", ...value, exported: false, temporary: false },
  ];
  switch (node.type) {
    case "FileDescriptorVariable":
      return set(node.name, number);
    case "ParameterExpansion":
      return node.operation?.type === "Default" && /=$/.test(node.operation.operator)
        ? set(node.parameter, { madeOf: notDigits, plainOf: plainNames(node.operation.operand) })
        : [];
    case "ArithmeticBinary":
      return /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator)
        ? set(nameOf(node.left), { madeOf: namesRead(node.right), plainOf: [] })
        : [];
    case "ArithmeticUnary":
      return /^(?:\+\+|--)$/.test(node.operator) ? set(nameOf(node.operand), number) : [];
    default:
      return [];
  }
}

/** Names that only ever hold digits, or nothing: bash computes with them without evaluating anything else. */
export function numericNames(found: Setters): ReadonlySet<string> {
  return namesMadeOf(found, ({ madeOf }, isMade) => madeOf.every((name) => name === maybeNothing || isMade(name)));
}

/** Those of them that hold digits once they are set. */
export function filledNames(found: Setters): ReadonlySet<string> {
  return namesMadeOf(found, ({ madeOf }, isMade) => madeOf.every(isMade));
}

/** Names that never hold a letter of a pattern. `ownEnvironment`: what the script does not set is the user's, and holds none. */
export function plainVariables(found: Setters, ownEnvironment: boolean): ReadonlySet<string> {
  const set = new Set(found.setters.map(({ name }) => name));
  const isOwn = (name: string): boolean => ownEnvironment && !set.has(name) && isOwnName(name);
  return namesMadeOf(found, ({ plainOf }, isMade) => plainOf?.every((name) => isMade(name) || isOwn(name)) === true);
}

/** Those of which every value is made of others of the kind. */
function namesMadeOf(
  { setters, any }: Setters,
  holds: (setter: Setter, isMade: (name: string) => boolean) => boolean,
): ReadonlySet<string> {
  if (any) return new Set();
  const names = new Set(setters.map(({ name }) => name));
  let before: number;
  do {
    before = names.size;
    for (const setter of setters) if (!holds(setter, (name) => names.has(name))) names.delete(setter.name);
  } while (names.size !== before);
  return names;
}

function assignedValue({ value, index }: Assignment): Value {
  return {
    madeOf: value.type === "Word" && !index ? digitsOf(value) : notDigits,
    plainOf: plainNames(value),
    text: writtenValue(value),
  };
}

function writtenValue(value: Assignment["value"]): string | undefined {
  const [word] = value.type === "Word" ? readWord(value, noBindings) : [];
  return isPlain(word) ? word.text : undefined;
}

function valueOfEach(words: readonly Word[]): Value {
  // What is nothing without quotes is no round.
  const isThere = (word: Word, name: string): boolean => name !== maybeNothing || /["']/.test(word.text);
  const madeOf = words.flatMap((word) => digitsOf(word).filter((name) => isThere(word, name)));
  return { madeOf, plainOf: allPlain(words.map(plainNames)) };
}

const noBindings = new Map<string, ShellWord>();

const readRow: Row = { looks: "-ers -d: -i: -n: -N: -p: -t: -u:", changes: "-a:", operands: "text" };
const mapRow: Row = { looks: "-t -d: -n: -O: -s: -u: -c:", runs: "-C:", operands: "text" };
const declareRow: Row = { looks: "-rxgaAfFiIlnptu", operands: "text" };
const printfRow: Row = { changes: "-v:", ordered: true, operands: "text" };

function setByCommand(node: Command): Setter[] | "any" | "computed" {
  if (!node.name) return [];
  const [word] = readWord(node.name, noBindings);
  if (!isPlain(word)) return "any";
  const name = word.text;
  if (unfollowed.test(name)) return "any";
  const row = Object.hasOwn(settingBuiltins, name) ? settingBuiltins[name] : undefined;
  if (!row) return [];
  // Behind a name in quotes, bash takes `x=$y` apart like any other word.
  if (node.name.text !== name) return "computed";
  const words = node.args.flatMap((argument) => (argument.type === "Word" ? readWord(argument, noBindings) : []));
  const { options, operands, doubt } = readWords(row, words);
  if (doubt !== undefined) return row === printfRow ? "any" : "computed";
  if (options.some(({ effect }) => effect === "unknown" || effect === "runs")) return "any";
  const exported = name === "export" || options.some((option) => option.name === "-x");
  const found: Setter[] = [];
  // What it is made of is told by the assignment itself.
  for (const argument of node.args)
    if (argument.type === "Assignment")
      found.push({ name: argument.name, exported, temporary: false, ...number, text: writtenValue(argument.value) });
  const named = [
    ...options.filter(({ effect }) => effect === "changes").map(({ value }) => value),
    ...(row === printfRow ? [] : operands.map((operand) => operand.word)),
  ];
  for (const one of named) {
    const variable = one && variableIn(one);
    if (variable === undefined) return "computed";
    found.push({ name: variable, exported, temporary: false, ...(name === "unset" ? noText : anyText) });
  }
  const unnamed = found.length === 0 && Object.hasOwn(defaultNames, name) ? defaultNames[name] : undefined;
  return unnamed === undefined ? found : [{ name: unnamed, exported, temporary: false, ...anyText }];
}

/** Known although the value is not: `"x=$y"`. What bash takes apart may hold other names. */
function variableIn({ kind, text, splits }: ShellWord): string | undefined {
  const [, name, sign] = /^([A-Za-z_]\w*)(\+?=|$)/.exec(text) ?? [];
  return kind === "exact" || (sign && !splits) ? name : undefined;
}

/** Gives variables values by names it is told. */
export function setsVariables(name: string): boolean {
  return Object.hasOwn(settingBuiltins, name) && settingBuiltins[name] !== printfRow;
}

/** Set by builtins that are given no name. */
const defaultNames: Readonly<Record<string, string>> = { read: "REPLY", mapfile: "MAPFILE", readarray: "MAPFILE" };

const settingBuiltins: Readonly<Record<string, Row>> = {
  read: readRow,
  mapfile: mapRow,
  readarray: mapRow,
  declare: declareRow,
  typeset: declareRow,
  local: declareRow,
  export: declareRow,
  readonly: declareRow,
  unset: { looks: "-fvn", operands: "text" },
  printf: printfRow,
};

/** Builtins that run other builtins or text, or set names of their own choice. */
const unfollowed = /^(?:eval|source|\.|trap|builtin|command|exec|let|getopts|enable|alias|bind|complete|compopt|fc|history)$/;

/** The variables a word of digits is made of. */
function digitsOf(word: Word): readonly string[] {
  if (!word.parts) return digitsOfText(word.text);
  const [part, ...more] = word.parts.length === 1 && word.parts[0]?.type === "DoubleQuoted" ? word.parts[0].parts : word.parts;
  if (!part || more.length > 0) return notDigits;
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return digitsOfText(part.value);
    case "SimpleExpansion":
      return digitsOfName(part.text.slice(1));
    case "ParameterExpansion":
      if (part.operation || part.index || part.prefix === "!") return notDigits;
      return part.prefix === "#" ? [] : digitsOfName(part.parameter);
    case "ArithmeticExpansion":
      return part.expression ? namesRead(part.expression) : notDigits;
    case "CommandExpansion":
      return printsDigits(part.script) ? [maybeNothing] : notDigits;
    case "BraceExpansion":
      return /^\{\d+\.\.\d+(?:\.\.\d+)?\}$/.test(part.text) ? [] : notDigits;
    default:
      return notDigits;
  }
}

function digitsOfText(text: string): readonly string[] {
  if (/^-?\d+$/.test(text)) return [];
  return text === "" ? [maybeNothing] : notDigits;
}

/** A variable may be set later, and `$!` by what runs in the background. */
function digitsOfName(name: string): readonly string[] {
  if (/^[#?$]$/.test(name)) return [];
  return name === "!" ? [maybeNothing] : [name, maybeNothing];
}

/** The variables an expression computes with, and whatever else in it is no number. */
export function namesRead(expression: ArithmeticExpression): readonly string[] {
  switch (expression.type) {
    case "ArithmeticBinary":
      return [expression.left, expression.right].flatMap(namesRead);
    case "ArithmeticUnary":
      return namesRead(expression.operand);
    case "ArithmeticTernary":
      return [expression.test, expression.consequent, expression.alternate].flatMap(namesRead);
    case "ArithmeticGroup":
      return namesRead(expression.expression);
    case "ArithmeticCommandExpansion":
      return printsDigits(expression.script) ? [] : notDigits;
    case "ArithmeticWord": {
      const { value } = expression;
      return /^(?:\d+|\$[#?]|\$\{#\w+\})$/.test(value) ? [] : [value.replace(/^\$(?:\{(\w+)\}|(\w+))$/, "$1$2")];
    }
  }
}

function nameOf(expression: ArithmeticExpression): string | undefined {
  return expression.type === "ArithmeticWord" && /^[A-Za-z_]\w*$/.test(expression.value) ? expression.value : undefined;
}

/** `wc -l < f`, `… | wc -l`, `grep -c x f`, `date +%s`: whatever the files say, digits come out. */
function printsDigits(script: ParsedScript | undefined): boolean {
  const [statement, ...more] = script?.commands ?? [];
  if (!statement || more.length > 0 || statement.background) return false;
  const node = statement.command;
  const last = node.type === "Pipeline" ? node.commands.at(-1) : node;
  if (last?.type !== "Command" || last.name?.parts || last.prefix.length > 0) return false;
  const read = last.args.flatMap((word) => (word.type === "Word" ? readWord(word, noBindings) : [unknownWord]));
  if (!read.every(isPlain)) return false;
  const words = read.map(({ text }) => text);
  switch (last.name?.value) {
    case "wc":
      return /^-[lwcm]$/.test(words.join(" "));
    case "grep": {
      const operands = words.filter((word) => !/^-[civwxEFPn]+$/.test(word));
      return words.includes("-c") && operands.length <= 2 && !operands.some((word) => word.startsWith("-"));
    }
    case "date":
      return /^\+%[sYmdHMSj]$/.test(words.join(" "));
    case "nproc":
      return words.length === 0;
    case "seq":
      return words.every((word) => /^\d+$/.test(word));
    default:
      return false;
  }
}
