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
import {
  deepestParenthesis,
  hasTornWord,
  textOfRedirection,
  wordsPrintedBy,
  isNumber,
  isOpaqueExpansion,
  maySet,
} from "./shell-syntax.ts";
import { type Bindings, exactWord, isPlain, readWord, type ShellWord, unknownWord } from "./shell-words.ts";
import { commandsFromInput, findInner, type Inner } from "./wrappers.ts";

/** Directories a command may be in: each a chain of `cd` operands from where it started. Undefined: cannot be told. */
export type Places = readonly (readonly ShellWord[])[] | undefined;

export type Setting = { readonly name: string; readonly value: ShellWord | undefined; readonly exported: boolean };

/** One program (or builtin) that the command would run. */
export type Program = {
  /** Without its folder; empty when it is not known which program it is. */
  readonly name: string;
  readonly words: readonly ShellWord[];
  readonly settings: readonly Setting[];
  readonly places: Places;
  /** What it runs in turn, such as `rm` in `sudo rm`. */
  readonly inside: readonly Program[];
  /** Does nothing but run what is inside. */
  readonly transparent: boolean;
  /** The word at which what is inside starts, where it is part of these words. */
  readonly insideAt: number | undefined;
  /** Why not everything it runs can be seen. */
  readonly hidden: string | undefined;
};

export type FileUse = { readonly word: ShellWord; readonly places: Places };

export type ParsedCommand = {
  readonly programs: readonly Program[];
  /** Targets of redirections. */
  readonly writes: readonly FileUse[];
  readonly reads: readonly FileUse[];
  /** Variables set for the rest of the command. */
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
  #reason: string | undefined;
  #tooLarge = false;
  /** What earlier commands of the pipeline print, as far as it is written out. */
  #piped: readonly string[] = [];
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
    // Bash expands what stands inside arithmetic whatever the quotes; only plain numbers are certain.
    if (text.replace(/\$\(\([\d\s+\-*/%()<>=!&|^~,]*\)\)/g, "").includes("((")) this.doubt("it computes with ((…))");
    // The parser starts a comment behind `<(x)`; bash goes on with the word.
    if (text.includes(")#") && /[<>]\(/.test(text)) this.doubt("a substitution is part of a word");
    this.#visit(parse(text));
  }

  #visit = (node: SyntaxNode): void => {
    switch (node.type) {
      case "Script":
        return this.#visitScript(node);
      case "Command":
        return this.#visitCommand(node);
      case "Statement": {
        const before = this.#places;
        this.#visit(node.command);
        this.#places = node.background ? before : union(before, this.#places);
        return;
      }
      case "AndOr": {
        let possible = this.#places;
        node.commands.forEach((command, index) => {
          if (node.operators[index - 1] === "||") this.#places = possible;
          this.#visit(command);
          possible = union(possible, this.#places);
        });
        this.#places = possible;
        return;
      }
      case "Pipeline":
        if (node.commands.length === 1) return this.#children(node);
        for (const [index, command] of node.commands.entries()) {
          this.#piped = index === 0 ? [] : [...this.#piped, ...wordsPrintedBy(node.commands[index - 1])];
          this.#apart(command);
        }
        this.#piped = [];
        return;
      case "CommandExpansion":
      case "ArithmeticCommandExpansion":
      case "ProcessSubstitution":
        if (!node.script) this.doubt(`${node.text} cannot be parsed`);
        return this.#apart(node, true);
      case "Subshell":
      case "Coproc":
        return this.#apart(node, true);
      case "While":
        return this.#loop(node, undefined);
      case "For":
      case "Select":
        return this.#visitFor(node);
      case "Function":
        this.doubt("it defines a function");
        return this.#apart(node.body);
      case "Redirect":
      case "HereString":
      case "HereDoc":
        return this.#visitRedirection(node);
      case "Assignment":
        if (node.index && !/^\d+$/.test(node.index.text)) this.doubt("it computes a subscript");
        return this.#children(node);
      case "ParameterExpansion":
        if (isOpaqueExpansion(node)) this.doubt(`it evaluates ${node.text}`);
        return this.#children(node);
      case "ArithmeticExpansion":
        if (!/^\$\(\([\d\s+\-*/%()<>=!&|^~,]*\)\)$/.test(node.text)) this.doubt("it computes with $[…] or $((…))");
        return this.#children(node);
      case "ArithmeticCommand":
      case "ArithmeticFor":
        this.doubt("it computes with ((…))");
        return this.#children(node);
      case "ExtendedGlob":
        this.doubt("it has an extended pattern");
        return this.#children(node);
      case "LocaleString":
        this.doubt("it has translated text");
        return this.#children(node);
      case "TestBinary":
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) && ![node.left, node.right].every(isNumber)) {
          this.doubt(`[[ … ${node.operator} … ]] computes`);
        }
        return this.#children(node);
      case "TestUnary":
        if (/^-[vR]$/.test(node.operator) && !/^\w+$/.test(node.operand.text)) this.doubt("it tests a computed variable");
        return this.#children(node);
      default:
        return this.#children(node);
    }
  };

  #children(node: SyntaxNode): void {
    if (++this.#depth > 2_000) throw new RangeError("depth");
    forEachChild(node, this.#visit);
    this.#depth--;
  }

  /** In a process of its own: a `cd` in there does not count outside. */
  #apart(node: SyntaxNode, inside = false): void {
    const before = this.#places;
    if (inside) this.#children(node);
    else this.#visit(node);
    this.#places = before;
  }

  #visitScript(node: ParsedScript): void {
    const error = node.errors?.[0];
    if (error) this.doubt(`it cannot be parsed (${error.message})`);
    this.#children(node);
    const late = node.errors?.[0];
    if (late && !error) this.doubt(`it cannot be parsed (${late.message})`);
  }

  #visitFor(node: Extract<SyntaxNode, { type: "For" | "Select" }>): void {
    for (const word of node.wordlist ?? []) this.#visit(word);
    const values = (node.wordlist ?? []).flatMap((word) => readWord(word, this.#bindings));
    const known = node.type === "For" && node.wordlist !== undefined && values.length > 0 && values.length <= 16;
    if (!known || values.some((word) => word.kind === "open" || word.tilde) || maySet(node.body, node.name.value))
      return this.#loop(node.body, undefined);
    for (const value of values) this.#loop(node.body, { name: node.name.value, value });
  }

  /** What changes directory in a loop ends up anywhere. */
  #loop(node: SyntaxNode, binding: { name: string; value: ShellWord } | undefined): void {
    const { places: before, bindings } = { places: this.#places, bindings: this.#bindings };
    if (binding) this.#bindings = new Map([...bindings, [binding.name, binding.value]]);
    if (node.type === "While") this.#children(node);
    else this.#visit(node);
    if (this.#places !== before) this.doubt("it changes directory in a loop");
    this.#bindings = bindings;
  }

  #visitRedirection(node: Redirection): void {
    this.#children(node);
    if (node.type !== "Redirect") return;
    const { operator, target } = node;
    const [word = unknownWord] = target ? readWord(target, this.#bindings) : [];
    if (operator === "<&" || (operator === ">&" && word.kind === "exact" && /^(?:\d+-?|-)$/.test(word.text))) return;
    const use: FileUse = { word: word.kind === "glob" ? { ...word, kind: "open" } : word, places: this.#places };
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
      if (settings.some(({ name }) => name === "IFS")) this.doubt("it sets IFS, by which words are split");
      this.#settings.push(...settings.map((setting) => ({ ...setting, exported: false })));
      return;
    }
    const words = [node.name, ...node.args].flatMap((argument) => this.#argument(argument));
    const program = this.#program(words, settings);
    if (program) this.#programs.push(readsInput(program) ? this.#fed(program, node) : program);
  }

  /** A shell that reads commands from its input: those that are written out count for what is forbidden. */
  #fed(program: Program, node: Command): Program {
    const texts = [...this.#piped, ...node.redirects.flatMap(textOfRedirection)];
    const toProgram = (text: string): Program[] => this.#inside({ type: "script", text, sameShell: false, transparent: false });
    return { ...program, inside: [...program.inside, ...this.#nested(() => texts.flatMap(toProgram))] };
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
    if (/^(?:alias|unalias|hash|enable|shopt)$/.test(name) && !isHarmlessShopt(words))
      this.doubt(`${name} changes what names mean`);
    if (
      name === "set" &&
      words.slice(1).some((word) => !isPlain(word) || !/^(?:[-+][eufvx]*o?|pipefail|errexit|nounset)$/.test(word.text))
    )
      this.doubt("set changes how the rest is read");
    const places = this.#places;
    const inner = plain ? findInner(name, words) : [];
    const own = {
      name,
      words,
      places,
      settings: [...settings, ...inner.flatMap((one) => (one.type === "program" ? (one.settings ?? []) : []))],
    };
    const inside = this.#nested(() => inner.flatMap((one) => this.#inside(one)));
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

function isHarmlessShopt(words: readonly ShellWord[]): boolean {
  return (
    words[0]?.text === "shopt" &&
    words.slice(1).every((word) => isPlain(word) && /^(?:-[suq]|nullglob|globstar|dotglob|failglob|nocaseglob)$/.test(word.text))
  );
}

function readsInput(program: Program): boolean {
  return program.hidden === commandsFromInput || program.inside.some(readsInput);
}
