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
import { plainNames } from "./plain-text.ts";
import { exactWord, isPlain, readWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** One place of a script that gives a variable a value. */
export type Setter = {
  readonly name: string;
  readonly exported: boolean;
  /** In front of a program: set for that program alone. */
  readonly temporary: boolean;
  /** Only ever digits, if the variables it is made of are. Undefined: may be any text. */
  readonly madeOf: readonly string[] | undefined;
  /** No letter of a pattern in it, if there is none in these variables. Undefined: may hold one. */
  readonly plainOf: readonly string[] | undefined;
};

type Value = Pick<Setter, "madeOf" | "plainOf">;
const anyText: Value = { madeOf: undefined, plainOf: undefined };
const number: Value = { madeOf: [], plainOf: [] };

/** Every variable that this part of a script may set. `any`: it may set others that cannot be told. */
export type Setters = { readonly setters: readonly Setter[]; readonly any: boolean };

export function settersIn(root: SyntaxNode): Setters {
  const setters: Setter[] = [];
  let any = false;
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
        add(
          node.name.value,
          node.wordlist
            ? { madeOf: allDigits(node.wordlist.map(digitsOf)), plainOf: allDigits(node.wordlist.map(plainNames)) }
            : anyText,
        );
        break;
      case "Select":
        add(node.name.value, anyText);
        break;
      case "Coproc":
        add(node.name?.value ?? "COPROC", anyText);
        break;
      case "FileDescriptorVariable":
        add(node.name, number);
        break;
      case "ParameterExpansion":
        if (node.operation?.type === "Default" && /=$/.test(node.operation.operator))
          add(node.parameter, { madeOf: undefined, plainOf: plainNames(node.operation.operand) });
        break;
      case "ArithmeticBinary":
        if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator))
          add(nameOf(node.left) ?? "", { madeOf: namesRead(node.right), plainOf: [] });
        break;
      case "ArithmeticUnary":
        if (/^(?:\+\+|--)$/.test(node.operator)) add(nameOf(node.operand) ?? "", number);
        break;
      case "Command": {
        if (node.name) for (const part of node.prefix) temporary.add(part);
        const found = setByCommand(node);
        any ||= found === "any";
        if (found !== "any") setters.push(...found);
        break;
      }
    }
    forEachChild(node, visit);
  };
  visit(root);
  return { setters, any };
}

/** Names that only ever hold digits: bash computes with them without evaluating anything else. */
export function numericNames(found: Setters): ReadonlySet<string> {
  return namesMadeOf(found, ({ madeOf }, isMade) => madeOf?.every(isMade) === true);
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
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const setter of setters) if (!holds(setter, (name) => names.has(name))) names.delete(setter.name);
  }
  return names;
}

function assignedValue({ value, index }: Assignment): Value {
  return { madeOf: value.type === "Word" && !index ? digitsOf(value) : undefined, plainOf: plainNames(value) };
}

const noBindings = new Map<string, ShellWord>();

const readRow: Row = { looks: "-ers -d: -i: -n: -N: -p: -t: -u:", changes: "-a:", operands: "text" };
const mapRow: Row = { looks: "-t -d: -n: -O: -s: -u: -c:", runs: "-C:", operands: "text" };
const declareRow: Row = { looks: "-rxgaAfFiIlnptu", operands: "text" };
const printfRow: Row = { changes: "-v:", ordered: true, operands: "text" };

function setByCommand(node: Command): Setter[] | "any" {
  if (!node.name) return [];
  const [word] = readWord(node.name, noBindings);
  if (!isPlain(word)) return "any";
  const name = word.text;
  if (unfollowed.test(name)) return "any";
  const row = Object.hasOwn(settingBuiltins, name) ? settingBuiltins[name] : undefined;
  if (!row) return [];
  const isDeclaration = row === declareRow;
  const words = node.args.flatMap((argument) =>
    argument.type === "Word" ? readWord(argument, noBindings) : isDeclaration ? [] : [exactWord(argument.text)],
  );
  const { options, operands, doubt } = readWords(row, words);
  if (doubt !== undefined || options.some(({ effect }) => effect === "unknown" || effect === "runs")) return "any";
  const named = [
    ...options.filter(({ effect }) => effect === "changes").map(({ value }) => value),
    ...(row === printfRow ? [] : operands.map((operand) => operand.word)),
  ];
  const exported = name === "export" || options.some((option) => option.name === "-x");
  const found: Setter[] = node.args.flatMap((argument) =>
    argument.type === "Assignment" && isDeclaration
      ? [
          {
            name: argument.name,
            exported,
            temporary: false,
            ...assignedValue(argument),
          },
        ]
      : [],
  );
  for (const one of named) {
    const variable = /^([A-Za-z_]\w*)(?:=|\+=|$)/.exec(one?.text ?? "")?.[1];
    if (!one || variable === undefined || (one.kind !== "exact" && !one.text.includes("="))) return "any";
    found.push({ name: variable, exported, temporary: false, madeOf: undefined, plainOf: name === "unset" ? [] : undefined });
  }
  if (found.length === 0 && row === readRow) return [{ name: "REPLY", exported: false, temporary: false, ...anyText }];
  if (found.length === 0 && row === mapRow) return "any";
  return found;
}

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

/** The variables a word of digits is made of; undefined when it may hold anything else. */
function digitsOf(word: Word): string[] | undefined {
  if (!word.parts) return /^-?\d*$/.test(word.text) ? [] : undefined;
  const [part, ...more] = word.parts.length === 1 && word.parts[0]?.type === "DoubleQuoted" ? word.parts[0].parts : word.parts;
  if (!part || more.length > 0) return undefined;
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return /^-?\d*$/.test(part.value) ? [] : undefined;
    case "SimpleExpansion":
      return digitsOfName(part.text.slice(1));
    case "ParameterExpansion":
      return part.operation || part.index
        ? undefined
        : part.prefix === "#"
          ? []
          : part.prefix
            ? undefined
            : digitsOfName(part.parameter);
    case "ArithmeticExpansion":
      return part.expression ? namesRead(part.expression) : undefined;
    case "CommandExpansion":
      return part.script && printsDigits(part.script) ? [] : undefined;
    case "BraceExpansion":
      return /^\{\d+\.\.\d+(?:\.\.\d+)?\}$/.test(part.text) ? [] : undefined;
    default:
      return undefined;
  }
}

function digitsOfName(name: string): string[] | undefined {
  if (/^[#?$!]$/.test(name)) return [];
  return /^[A-Za-z_]\w*$/.test(name) ? [name] : undefined;
}

function allDigits(parts: readonly (readonly string[] | undefined)[]): string[] | undefined {
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

/** The variables an expression computes with; undefined where it does more than compute. */
export function namesRead(expression: ArithmeticExpression): string[] | undefined {
  switch (expression.type) {
    case "ArithmeticBinary":
      return allDigits([namesRead(expression.left), namesRead(expression.right)]);
    case "ArithmeticUnary":
      return namesRead(expression.operand);
    case "ArithmeticTernary":
      return allDigits([expression.test, expression.consequent, expression.alternate].map(namesRead));
    case "ArithmeticGroup":
      return namesRead(expression.expression);
    case "ArithmeticCommandExpansion":
      return expression.script && printsDigits(expression.script) ? [] : undefined;
    case "ArithmeticWord": {
      const { value } = expression;
      if (/^\d+$/.test(value) || /^\$(?:[#?]|\{#\w+\})$/.test(value)) return [];
      const name = /^(?:\$?([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})$/.exec(value);
      return name ? [name[1] ?? name[2] ?? ""] : undefined;
    }
  }
}

function nameOf(expression: ArithmeticExpression): string | undefined {
  return expression.type === "ArithmeticWord" && /^[A-Za-z_]\w*$/.test(expression.value) ? expression.value : undefined;
}

/** `wc -l < f`, `… | wc -l`, `grep -c x f`, `date +%s`: whatever the files say, digits come out. */
function printsDigits(script: ParsedScript): boolean {
  const [statement, ...more] = script.commands;
  if (!statement || more.length > 0 || statement.background || script.errors?.length) return false;
  const node = statement.command;
  const last = node.type === "Pipeline" ? node.commands.at(-1) : node;
  if (last?.type !== "Command" || last.name?.parts || last.prefix.length > 0) return false;
  const read = last.args.flatMap((word) => (word.type === "Word" ? readWord(word, noBindings) : [unknownWord]));
  if (!read.every(isPlain)) return false;
  const words = read.map(({ text }) => text);
  const isCounting = (options: RegExp, operands: number): boolean =>
    words.filter((word) => !options.test(word)).length <= operands &&
    words.every((word) => !word.startsWith("-") || options.test(word));
  switch (last.name?.value) {
    case "wc":
      return words.length === 1 && /^-[lwcm]$/.test(words[0] ?? "");
    case "grep":
      return words.includes("-c") && isCounting(/^-[civwxEFPn]+$/, 2) && !words.some((word) => /^-.*[rRH]/.test(word));
    case "date":
      return words.length === 1 && /^\+%[sYmdHMSj]$/.test(words[0] ?? "");
    case "nproc":
      return words.length === 0;
    case "seq":
      return words.every((word) => /^\d+$/.test(word));
    default:
      return false;
  }
}
