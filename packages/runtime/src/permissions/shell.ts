import {
  type Assignment,
  type Command,
  forEachChild,
  parse,
  type ParsedScript,
  type Redirection,
  type SyntaxNode,
  type Word,
} from "unbash";
import { isLooker } from "./program-table.ts";
import { namesPrinted, namesPrintedBy, type PrintedNames, wordsOfNames } from "./printed-names.ts";
import { namesRead, numericNames, type Setters, settersIn } from "./shell-setters.ts";
import {
  deepestParenthesis,
  hasComputedDescriptor,
  hasComputedPlace,
  hasTornWord,
  isOpaqueExpansion,
  isTakenForPlain,
  textOfRedirection,
  wordsPrintedBy,
} from "./shell-syntax.ts";
import { isBashName, isHarmlessVariable } from "./shell-variables.ts";
import {
  type Bindings,
  exactWord,
  isPlain,
  numberWord,
  readValue,
  readWord,
  type ShellWord,
  unknownWord,
} from "./shell-words.ts";
import { builtinObjection } from "./shell-builtins.ts";
import { commandsFromInput, findInner, type Inner } from "./wrappers.ts";

/** Directories a command may be in: each a chain of `cd` operands from where it started. Undefined: cannot be told. */
export type Places = readonly (readonly ShellWord[])[] | undefined;

/** When in the line something happens: after everything whose `at` is smaller than `until`. */
export type Moment = {
  readonly at: number;
  until: number;
  /** It may come more than once. */
  again: boolean;
};

export type Setting = { readonly name: string; readonly value: ShellWord | undefined; readonly exported: boolean };

/** One program (or builtin) that the command would run. */
export type Program = {
  /** Without its folder; empty when it is not known which program it is. */
  readonly name: string;
  readonly words: readonly ShellWord[];
  readonly settings: readonly Setting[];
  readonly places: Places;
  readonly moment: Moment;
  /** What it runs in turn, such as `rm` in `sudo rm`. */
  readonly inside: readonly Program[];
  /** Does nothing but run what is inside. */
  readonly transparent: boolean;
  /** The word at which what is inside starts, where it is part of these words. */
  readonly insideAt: number | undefined;
  /** Why not everything it runs can be seen. */
  readonly hidden: string | undefined;
};

export type FileUse = { readonly word: ShellWord; readonly places: Places; readonly moment?: Moment | undefined };

export type ParsedCommand = {
  readonly programs: readonly Program[];
  /** Targets of redirections. */
  readonly writes: readonly FileUse[];
  readonly reads: readonly FileUse[];
  /** Variables it sets in any way. */
  readonly settings: readonly Setting[];
  /** False: it may run programs that are not listed. */
  readonly understood: boolean;
  readonly reason?: string;
  /** It was too large to be looked at whole. */
  readonly tooLarge: boolean;
};

const maxLength = 100_000;
const maxPrograms = 1_000;
const maxDepth = 24;
const maxPlaces = 8;
const maxParentheses = 100;

/** The programs a bash command line would run, at any depth, and the files its redirections touch. Runs nothing, never throws. */
export function parseCommand(text: string): ParsedCommand {
  if (text.length > maxLength) return { ...nothing, tooLarge: true, reason: `it is longer than ${maxLength} characters` };
  if (deepestParenthesis(text) > maxParentheses) return { ...nothing, tooLarge: true, reason: "it is nested too deeply" };
  const walk = new Walk();
  try {
    walk.script(text);
  } catch (error) {
    if (!(error instanceof RangeError))
      walk.doubt(`it cannot be parsed (${error instanceof Error ? error.message : String(error)})`);
    else walk.tooLarge("it is nested too deeply");
  }
  return walk.result();
}

const nothing: ParsedCommand = { programs: [], writes: [], reads: [], settings: [], understood: false, tooLarge: false };

class Walk {
  #programs: Program[] = [];
  readonly #writes: FileUse[] = [];
  readonly #reads: FileUse[] = [];
  readonly #settings: Setting[] = [];
  #places: Places = [[]];
  #bindings: Bindings = new Map();
  /** Variables that hold nothing but digits, in the script that is being read. */
  #numeric: ReadonlySet<string> = new Set();
  /** Where two parentheses stand together and are known not to compute. */
  #explained: { readonly pos: number; readonly end: number }[] = [];
  readonly #moments: Moment[] = [];
  #reason: string | undefined;
  #tooLarge = false;
  /** What earlier commands of the pipeline print, as far as it is written out. */
  #piped: readonly string[] = [];
  /** Names of files that the input of the current command consists of. */
  #names: PrintedNames | undefined;
  #depth = 0;
  #count = 0;

  result(): ParsedCommand {
    const reason = this.#reason;
    return {
      programs: this.#programs,
      writes: this.#writes,
      reads: this.#reads,
      settings: this.#settings,
      understood: reason === undefined,
      ...(reason !== undefined && { reason }),
      tooLarge: this.#tooLarge,
    };
  }

  doubt(reason: string): void {
    this.#reason ??= reason;
  }

  tooLarge(reason: string): void {
    this.#tooLarge = true;
    this.doubt(reason);
  }

  script(text: string): void {
    if (text.includes("\0")) this.doubt("it holds a NUL character");
    // The parser starts a comment behind `<(x)`; bash goes on with the word.
    if (text.includes(")#") && /[<>]\(/.test(text)) this.doubt("a substitution is part of a word");
    if (hasComputedDescriptor(text)) this.doubt("it computes where a descriptor is kept");
    const script = parse(text);
    const found = settersIn(script);
    this.#noteSetters(found);
    const { numeric, explained } = { numeric: this.#numeric, explained: this.#explained };
    this.#numeric = numericNames(found);
    this.#explained = [];
    this.#visit(script);
    this.#lookForArithmetic(text);
    this.#numeric = numeric;
    this.#explained = explained;
  }

  /** Bash tries to compute first wherever it sees two parentheses: all of them must be accounted for. */
  #lookForArithmetic(text: string): void {
    const isExplained = (at: number): boolean => this.#explained.some(({ pos, end }) => pos <= at && at < end);
    for (let at = text.indexOf("(("); at !== -1; at = text.indexOf("((", at + 1))
      if (!isExplained(at)) return this.doubt("it may compute with ((…))");
  }

  #noteSetters({ setters }: Setters): void {
    for (const { name, exported, temporary } of setters) {
      if (!/^[A-Za-z_]\w*$/.test(name)) this.doubt("it sets a variable by a computed name");
      const isMeant = name === "REPLY" || (name === "IFS" && temporary) || isHarmlessVariable(name);
      if (isBashName(name) && !isMeant) this.doubt(`it sets ${name}, which means something to bash`);
      if (!temporary) this.#settings.push({ name, value: undefined, exported });
    }
  }

  /** Everything bash can be told to do, by the list of what is understood; what is not on it is in doubt. */
  #visit = (node: SyntaxNode): void => {
    switch (node.type) {
      case "Script":
        return this.#visitScript(node);
      case "Command":
        return this.#visitCommand(node);
      case "Statement":
        return this.#visitStatement(node);
      case "AndOr":
        return this.#visitAndOr(node);
      case "Pipeline":
        return this.#visitPipeline(node);
      case "CommandExpansion":
      case "ArithmeticCommandExpansion":
      case "ProcessSubstitution":
        if (!node.script) this.doubt(`${node.text} cannot be parsed`);
        // Positions in a script with its own source mean nothing here.
        if (node.script?.source?.includes("((")) this.doubt("it may compute with ((…))");
        return node.type === "ProcessSubstitution" ? this.#anytime(() => this.#apart(node, true)) : this.#apart(node, true);
      case "Subshell":
        return this.#apart(node, true);
      case "Coproc":
        this.doubt("it has a coprocess");
        return this.#anytime(() => this.#apart(node, true));
      case "Function":
        this.doubt("it defines a function");
        return this.#apart(node.body);
      case "While":
        return this.#loop(node, undefined);
      case "For":
        return this.#visitFor(node);
      case "Select":
        this.doubt("it lets somebody select");
        return this.#loop(node.body, undefined);
      case "ArithmeticFor":
        this.#explained.push({ pos: node.pos, end: node.body.pos });
        for (const part of [node.initialize, node.test, node.update]) this.#compute(part);
        this.#children(node, [node.body]);
        return this.#loop(node.body, undefined);
      case "If":
      case "Case":
        return this.#branches(node);
      case "Redirect":
      case "HereString":
      case "HereDoc":
        return this.#visitRedirection(node);
      case "Assignment":
        if (node.index && !this.#isIndex(node.index)) this.doubt("it computes a subscript");
        return this.#children(node);
      case "ArrayValue":
        if (node.elements.some(hasComputedPlace)) this.doubt("it computes a subscript");
        return this.#children(node);
      case "ParameterExpansion":
        if (isOpaqueExpansion(node, (word) => this.#isIndex(word))) this.doubt(`it evaluates ${node.text}`);
        return this.#children(node);
      case "ArithmeticExpansion":
        if (node.text.startsWith("$[")) this.doubt("it computes with $[…]");
        this.#explained.push(node);
        this.#compute(node.expression);
        return this.#children(node);
      case "ArithmeticCommand":
        this.#explained.push(node);
        this.#compute(node.expression);
        return this.#children(node);
      case "ExtendedGlob":
        this.doubt("it has an extended pattern");
        return this.#children(node);
      case "LocaleString":
        this.doubt("it has translated text");
        return this.#children(node);
      case "TestBinary":
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) && ![node.left, node.right].every((word) => this.#isNumber(word)))
          this.doubt(`[[ … ${node.operator} … ]] computes`);
        return this.#children(node);
      case "TestUnary":
        if (/^-[vR]$/.test(node.operator) && !/^\w+$/.test(node.operand.text)) this.doubt("it tests a computed variable");
        return this.#children(node);
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#explained.push(node);
        return;
      case "Literal":
      case "HereDocDelimiter":
        return;
      case "DoubleQuoted":
        for (const part of node.parts) if (part.type === "Literal") this.#explained.push(part);
        return this.#children(node);
      case "HereDocBody":
        for (const part of node.parts ?? [node]) if (part.type === "Literal" || part === node) this.#explained.push(part);
        return this.#children(node);
      case "Word":
        if (isTakenForPlain(node)) this.doubt(`${node.text} is not understood`);
        return this.#children(node);
      case "SimpleExpansion":
      case "Glob":
      case "BraceExpansion":
      case "CompoundList":
      case "BraceGroup":
      case "Elif":
      case "CaseItem":
      case "Redirected":
      case "Time":
      case "Negation":
      case "TestCommand":
      case "TestLogical":
      case "TestNot":
      case "TestGroup":
      case "FileDescriptor":
      case "FileDescriptorVariable":
      case "ArithmeticBinary":
      case "ArithmeticUnary":
      case "ArithmeticTernary":
      case "ArithmeticGroup":
      case "ArithmeticWord":
      case "Default":
      case "Remove":
      case "Replace":
      case "Slice":
      case "CaseModification":
      case "Transform":
        return this.#children(node);
      default:
        this.doubt(`it has a ${node.type}, which is not understood`);
        return this.#children(node);
    }
  };

  /** Digits, and variables that hold nothing else: bash evaluates whatever else they hold. */
  #compute(expression: Parameters<typeof namesRead>[0] | undefined): void {
    const names = expression ? namesRead(expression) : [];
    if (!names?.every((name) => this.#numeric.has(name))) this.doubt("it computes with what may be more than a number");
  }

  #isIndex(word: Word): boolean {
    return /^\s*-?\d+\s*$/.test(word.text) || this.#isNumber(word) || this.#numeric.has(word.text);
  }

  #isNumber(word: Word): boolean {
    const name = /^"?\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"?$/.exec(word.text);
    if (name) return this.#numeric.has(name[1] ?? name[2] ?? "");
    return /^-?\d+$/.test(word.text) || /^"?\$[#?]"?$/.test(word.text) || /^"?\$\{#\w+\}"?$/.test(word.text);
  }

  #visitStatement(node: Extract<SyntaxNode, { type: "Statement" }>): void {
    const { places, bindings } = { places: this.#places, bindings: this.#bindings };
    if (!node.background) {
      this.#visit(node.command);
      this.#places = union(places, this.#places);
      return;
    }
    this.#anytime(() => this.#visit(node.command));
    this.#places = places;
    this.#bindings = bindings;
  }

  /** What stands behind `&&` has what comes before it; behind `||` nothing but the first is certain. */
  #visitAndOr(node: Extract<SyntaxNode, { type: "AndOr" }>): void {
    let possible = this.#places;
    let certain = this.#bindings;
    node.commands.forEach((command, index) => {
      if (node.operators[index - 1] === "||") {
        this.#places = possible;
        this.#bindings = certain;
      }
      this.#visit(command);
      possible = union(possible, this.#places);
      certain = index === 0 ? this.#bindings : this.#without(certain, settersIn(command));
    });
    this.#places = possible;
    this.#bindings = certain;
  }

  #visitPipeline(node: Extract<SyntaxNode, { type: "Pipeline" }>): void {
    if (node.commands.length === 1) return this.#children(node);
    const from = this.#moments.length;
    for (const [index, command] of node.commands.entries()) {
      const before = node.commands[index - 1];
      this.#piped = index === 0 ? [] : [...this.#piped, ...wordsPrintedBy(before)];
      this.#names = before && node.operators[index - 1] === "|" ? namesPrinted(before, this.#names, this.#bindings) : undefined;
      this.#apart(command);
    }
    this.#mixed(from, false);
    this.#piped = [];
    this.#names = undefined;
  }

  /** What is known about variables, less what these may have set. A name without an entry may be anything. */
  #without(bindings: Bindings, { setters, any }: Setters): Bindings {
    if (any)
      return new Map([
        ["HOME", unknownWord],
        ["PWD", unknownWord],
      ]);
    const lasting = setters.filter(({ temporary }) => !temporary);
    if (lasting.length === 0) return bindings;
    const rest = new Map(bindings);
    for (const { name } of lasting) rest.set(name, this.#numeric.has(name) ? numberWord : unknownWord);
    return rest;
  }

  /** One of several ways, or none: afterwards nothing is certain about what any of them sets. */
  #branches(node: SyntaxNode): void {
    const bindings = this.#bindings;
    const places = this.#places;
    forEachChild(node, (child) => {
      this.#bindings = this.#without(bindings, settersIn(node));
      if (child.type === "CompoundList" || child.type === "CaseItem") this.#places = union(places, this.#places);
      this.#visit(child);
    });
    this.#places = union(places, this.#places);
    this.#bindings = this.#without(bindings, settersIn(node));
  }

  /** What runs at the same time, or again: each part of it may come after every other. */
  #mixed(from: number, again: boolean): void {
    for (const moment of this.#moments.slice(from)) {
      moment.until = Math.max(moment.until, this.#moments.length);
      moment.again ||= again;
    }
  }

  #anytime(run: () => void): void {
    const from = this.#moments.length;
    run();
    for (const moment of this.#moments.slice(from)) moment.until = Number.POSITIVE_INFINITY;
  }

  #now(): Moment {
    const moment = { at: this.#moments.length, until: this.#moments.length, again: false };
    this.#moments.push(moment);
    return moment;
  }

  #children(node: SyntaxNode, except: readonly SyntaxNode[] = []): void {
    if (++this.#depth > 2_000) throw new RangeError("depth");
    forEachChild(node, (child) => {
      if (!except.includes(child)) this.#visit(child);
    });
    this.#depth--;
  }

  /** In a process of its own: what it sets and where it goes does not count outside. */
  #apart(node: SyntaxNode, inside = false): void {
    const { places, bindings } = { places: this.#places, bindings: this.#bindings };
    if (inside) this.#children(node);
    else this.#visit(node);
    this.#places = places;
    this.#bindings = bindings;
  }

  #visitScript(node: ParsedScript): void {
    const error = node.errors?.[0];
    if (error) this.doubt(`it cannot be parsed (${error.message})`);
    this.#children(node);
    const late = node.errors?.[0];
    if (late && !error) this.doubt(`it cannot be parsed (${late.message})`);
  }

  #visitFor(node: Extract<SyntaxNode, { type: "For" }>): void {
    for (const word of node.wordlist ?? []) this.#visit(word);
    const values = (node.wordlist ?? []).flatMap((word) => readWord(word, this.#bindings));
    const known = node.wordlist !== undefined && values.length > 0 && values.length <= 16;
    const setters = settersIn(node.body);
    const isSetInside = setters.any || setters.setters.some(({ name }) => name === node.name.value);
    if (!known || isSetInside || values.some((word) => word.kind === "open" || word.splits || word.tilde)) {
      this.#loop(node.body, { name: node.name.value, value: undefined });
    } else for (const value of values) this.#loop(node.body, { name: node.name.value, value });
  }

  /** What changes directory in a loop ends up anywhere. */
  #loop(node: SyntaxNode, binding: { name: string; value: ShellWord | undefined } | undefined): void {
    const before = this.#places;
    const bindings = new Map(this.#without(this.#bindings, settersIn(node)));
    if (binding) bindings.set(binding.name, this.#numeric.has(binding.name) ? numberWord : unknownWord);
    const from = this.#moments.length;
    this.#bindings = binding?.value ? new Map([...bindings, [binding.name, binding.value]]) : bindings;
    if (node.type === "While") this.#children(node);
    else this.#visit(node);
    if (this.#places !== before) this.doubt("it changes directory in a loop");
    this.#bindings = bindings;
    this.#mixed(from, true);
  }

  #visitRedirection(node: Redirection): void {
    this.#children(node);
    if (node.type !== "Redirect") return;
    const { operator, target } = node;
    const [word = unknownWord] = target ? readWord(target, this.#bindings) : [];
    if (operator === "<&" || (operator === ">&" && word.kind === "exact" && /^(?:\d+-?|-)$/.test(word.text))) return;
    if (!/^(?:>|>>|<|>\||&>|&>>|>&)$/.test(operator)) this.doubt(`it redirects with ${operator}`);
    const certain = word.kind === "exact";
    const use: FileUse = { word: certain ? word : { ...word, kind: "open" }, places: this.#places, moment: this.#now() };
    if (operator === "<") this.#reads.push(use);
    else this.#writes.push(use);
  }

  #visitCommand(node: Command): void {
    this.#children(node);
    // The parser takes `A=<(x) y` apart as `A= <(x) y`; bash runs y.
    if (hasTornWord(node)) this.doubt("a substitution is part of a word");
    const settings = node.prefix.filter((part) => part.type === "Assignment").map((part) => this.#setting(part, true));
    if (settings.some(({ value }) => value && /[^\P{Cc}\t\n]/u.test(value.text))) {
      // Readers disagree where such a line ends: nothing is said about the rest of it.
      this.doubt("it sets a variable to control characters");
      return;
    }
    if (!node.name) {
      const assignments = node.prefix.filter((part) => part.type === "Assignment");
      for (const assignment of assignments) this.#bind(assignment);
      return;
    }
    const looks = isLooker(node.name.value);
    const words = [node.name, ...node.args].flatMap(
      (argument) => (looks ? this.#namesIn(argument) : undefined) ?? this.#argument(argument),
    );
    const program = this.#program(words, settings);
    const sets = settersIn(node);
    if (sets.any || sets.setters.length > 0) this.#bindings = this.#without(this.#bindings, sets);
    if (program) this.#programs.push(readsInput(program) ? this.#fed(program, node) : program);
  }

  #bind(assignment: Assignment): void {
    const { name, value, append, index } = assignment;
    const bindings = new Map(this.#bindings);
    const known = value.type === "Word" && !append && !index ? readValue(value, this.#bindings) : undefined;
    if (known) bindings.set(name, known);
    else bindings.set(name, this.#numeric.has(name) ? numberWord : unknownWord);
    this.#bindings = bindings;
  }

  /** A shell that reads commands from its input: those that are written out count for what is forbidden. */
  #fed(program: Program, node: Command): Program {
    const texts = [...this.#piped, ...node.redirects.flatMap(textOfRedirection)];
    const toProgram = (text: string): Program[] => this.#inside({ type: "script", text, sameShell: false, transparent: false });
    return { ...program, inside: [...program.inside, ...this.#nested(() => texts.flatMap(toProgram))] };
  }

  /** `wc -l $(git ls-files)`: files of the project, if their names allow it. */
  #namesIn(argument: Word | Assignment): ShellWord[] | undefined {
    if (argument.type !== "Word" || argument.parts?.length !== 1) return undefined;
    const [part] = argument.parts;
    const names = part?.type === "CommandExpansion" ? namesPrintedBy(part.script, this.#bindings) : undefined;
    return names && wordsOfNames(names, false);
  }

  #argument(argument: Word | Assignment): ShellWord[] {
    if (argument.type === "Word") return readWord(argument, this.#bindings);
    const { value } = this.#setting(argument, false);
    const head = `${argument.name}${argument.index ? `[${argument.index.text}]` : ""}=`;
    return [value ? { ...value, text: head + value.text, tilde: false } : { ...unknownWord, text: head }];
  }

  #setting(assignment: Assignment, exported: boolean): Setting {
    const { value } = assignment;
    const [word] = value.type === "Word" ? readWord(value, this.#bindings) : [];
    return { name: assignment.name, value: word, exported };
  }

  #program(words: readonly ShellWord[], settings: readonly Setting[]): Program | undefined {
    if (++this.#count > maxPrograms) {
      this.tooLarge(`it runs more than ${maxPrograms} programs`);
      return undefined;
    }
    if (words.some((word) => word.tilde && !/^~(?:\/|$)/.test(word.text))) this.doubt("it names the home of another user");
    const [first] = words;
    const plain = isPlain(first) && first.text !== "";
    if (!plain) this.doubt("the name of a program is not written out");
    const name = plain ? first.text.slice(first.text.lastIndexOf("/") + 1) : "";
    const objection = plain ? builtinObjection(name, words) : undefined;
    if (objection) this.doubt(objection);
    const places = this.#places;
    const inner = plain ? findInner(name, words, this.#names) : [];
    const from = this.#moments.length;
    const own = {
      name,
      words,
      places,
      moment: this.#now(),
      settings: [...settings, ...inner.flatMap((one) => (one.type === "program" ? (one.settings ?? []) : []))],
    };
    const inside = this.#nested(() => inner.flatMap((one) => this.#inside(one)));
    // Where a search starts is settled before it runs anything.
    if (inside.length > 0) this.#mixed(from + 1, name === "find" || name === "xargs" || name === "watch");
    if (name === "cd") this.#changeDirectory(words);
    if (/^(?:pushd|popd|source|\.)$/.test(name)) this.#places = undefined;
    const hidden = inner.find((one) => one.type === "hidden");
    const programAt = inner.find((one) => one.type === "program");
    return {
      ...own,
      inside,
      transparent: inner.length > 0 && inner.every((one) => one.type !== "hidden" && one.transparent),
      insideAt: programAt?.at,
      hidden: hidden?.reason,
    };
  }

  #inside(inner: Inner): Program[] {
    switch (inner.type) {
      case "hidden":
        return [
          ...(inner.candidates ?? []).flatMap((words) => this.#program(words, []) ?? []),
          ...(inner.scripts ?? []).flatMap((text) =>
            this.#inside({ type: "script", text, sameShell: false, transparent: false }),
          ),
        ];
      case "program":
        return [this.#program(inner.words, inner.settings ?? []) ?? []].flat();
      case "script": {
        // What the script runs is collected apart from its surroundings, then listed as inside.
        const { places, programs, bindings } = { places: this.#places, programs: this.#programs, bindings: this.#bindings };
        this.#programs = [];
        this.#bindings = new Map();
        this.script(inner.text);
        const found = this.#programs;
        this.#programs = programs;
        this.#bindings = bindings;
        if (!inner.sameShell) this.#places = places;
        return found;
      }
    }
  }

  #nested(run: () => Program[]): Program[] {
    if (this.#depth > maxDepth * 80) throw new RangeError("depth");
    this.#depth += 80;
    const found = run();
    this.#depth -= 80;
    return found;
  }

  #changeDirectory(words: readonly ShellWord[]): void {
    const operands = words.slice(1).filter((word) => !(isPlain(word) && /^(?:-[LPe@]+|--)$/.test(word.text)));
    const [target = { ...exactWord("~"), tilde: true }] = operands;
    const certain = operands.length <= 1 && target.kind === "exact" && target.text !== "-" && target.text !== "";
    this.#places = certain ? this.#places?.map((chain) => [...chain, target]) : undefined;
  }
}

function union(first: Places, second: Places): Places {
  if (first === second || first === undefined || second === undefined) return first === second ? first : undefined;
  const all = [...first, ...second.filter((chain) => !first.includes(chain))];
  return all.length > maxPlaces ? undefined : all;
}

function readsInput(program: Program): boolean {
  return program.hidden === commandsFromInput || program.inside.some(readsInput);
}
