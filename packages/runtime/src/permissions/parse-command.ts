import { type Command, forEachChild, parse, type ParsedScript, type Redirection, type SyntaxNode, type Word } from "unbash";
import { Moments } from "./moments.ts";
import { assignedWord, namesIn, wordsOfCommand } from "./command-words.ts";
import { doubtAbout } from "./node-doubts.ts";
import type { FileUse, ParsedCommand, Program, Setting } from "./parsed-command.ts";
import { eitherPlace, type Places, placesAfterCd } from "./places.ts";
import { nameGiven, namesPrinted, type PrintedNames } from "./printed-names.ts";
import { ScriptNumbers } from "./script-numbers.ts";
import { unknownValue, withAssignment, withoutSet } from "./shell-bindings.ts";
import { builtinObjection } from "./shell-builtins.ts";
import { type Setters, settersIn } from "./shell-setters.ts";
import { deepestParenthesis, doubtAboutText, hasTornWord, setsInput, textOfRedirection, wordsPrintedBy } from "./shell-syntax.ts";
import { settingObjection } from "./shell-variables.ts";
import { type Bindings, isPlain, readWord, type ShellWord, unknownWord } from "./shell-words.ts";
import { commandsFromInput, findInner, type Inner } from "./wrappers.ts";

const maxLength = 100_000;
const maxPrograms = 1_000;
const maxDepth = 24;
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

const nothing: ParsedCommand = {
  programs: [],
  writes: [],
  reads: [],
  patterns: [],
  settings: [],
  understood: false,
  tooLarge: false,
};

class Walk {
  #programs: Program[] = [];
  readonly #writes: FileUse[] = [];
  readonly #reads: FileUse[] = [];
  readonly #patterns: FileUse[] = [];
  readonly #settings: Setting[] = [];
  #places: Places = [[]];
  #bindings: Bindings = new Map();
  /** Where names of files were put into a variable. */
  readonly #boundAt = new WeakMap<ShellWord, { readonly places: Places }>();
  /** Of the script that is being read. */
  #numbers = new ScriptNumbers({ setters: [], any: false });
  readonly #moments = new Moments();
  #reason: string | undefined;
  #tooLarge = false;
  /** What earlier commands of the pipeline print, as far as it is written out. */
  #piped: readonly string[] = [];
  /** Names of files that the input of the current command consists of. */
  #names: PrintedNames | undefined;
  /** Where they were printed. */
  #namesAt: Places;
  /** The command that reads those names, unless a redirection gives it something else. */
  #fed: SyntaxNode | undefined;
  #depth = 0;
  #count = 0;

  result(): ParsedCommand {
    const reason = this.#reason;
    return {
      programs: this.#programs,
      writes: this.#writes,
      reads: this.#reads,
      patterns: this.#patterns,
      settings: this.#settings,
      understood: reason === undefined,
      ...(reason !== undefined && { reason }),
      tooLarge: this.#tooLarge,
    };
  }

  doubt(reason: string | undefined): void {
    this.#reason ??= reason;
  }

  tooLarge(reason: string): void {
    this.#tooLarge = true;
    this.doubt(reason);
  }

  script(text: string): void {
    this.doubt(doubtAboutText(text));
    const script = parse(text);
    const found = settersIn(script);
    this.#noteSetters(found);
    const numbers = this.#numbers;
    this.#numbers = new ScriptNumbers(found);
    this.#visit(script);
    this.doubt(this.#numbers.mayCompute(text) ? "it may compute with ((…))" : undefined);
    this.#numbers = numbers;
  }

  #noteSetters({ setters }: Setters): void {
    for (const { name, exported, temporary } of setters) {
      this.doubt(settingObjection(name, temporary));
      if (!temporary) this.#settings.push({ name, value: undefined, exported });
    }
  }

  #visit = (node: SyntaxNode): void => {
    this.doubt(doubtAbout(node, this.#numbers));
    this.#numbers.explain(node);
    switch (node.type) {
      case "Script":
        return this.#visitScript(node);
      case "Command":
        return this.#redirected(node.redirects, () => this.#visitCommand(node));
      case "Redirected":
        return this.#redirected(node.redirects, () => this.#children(node));
      case "Statement":
        return this.#visitStatement(node);
      case "AndOr":
        return this.#visitAndOr(node);
      case "Pipeline":
        return this.#visitPipeline(node);
      case "CommandExpansion":
      case "ArithmeticCommandExpansion":
      case "Subshell":
        return this.#apart(node, true);
      case "ProcessSubstitution":
      case "Coproc":
        return this.#anytime(() => this.#apart(node, true));
      case "Function":
        return this.#apart(node.body);
      case "While":
        return this.#loop(node, undefined);
      case "For":
        return this.#visitFor(node);
      case "Select":
        this.#notePatterns(node.wordlist ?? []);
        return this.#loop(node.body, undefined);
      case "ArrayValue":
        this.#notePatterns(node.elements);
        return this.#children(node);
      case "ArithmeticFor":
        this.#children(node, [node.body]);
        return this.#loop(node.body, undefined);
      case "If":
      case "Case":
        return this.#branches(node);
      case "Redirect":
      case "HereString":
      case "HereDoc":
        return this.#visitRedirection(node);
      default:
        return this.#children(node);
    }
  };

  #visitStatement(node: Extract<SyntaxNode, { type: "Statement" }>): void {
    const { places, bindings } = { places: this.#places, bindings: this.#bindings };
    if (!node.background) {
      this.#visit(node.command);
      this.#places = eitherPlace(places, this.#places);
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
      possible = eitherPlace(possible, this.#places);
      certain = index === 0 ? this.#bindings : this.#without(certain, command);
    });
    this.#places = possible;
    this.#bindings = certain;
  }

  #visitPipeline(node: Extract<SyntaxNode, { type: "Pipeline" }>): void {
    if (node.commands.length === 1) return this.#children(node);
    const from = this.#moments.count();
    for (const [index, command] of node.commands.entries()) {
      const before = node.commands[index - 1];
      this.#piped = index === 0 ? [] : [...this.#piped, ...wordsPrintedBy(before)];
      this.#names = before && node.operators[index - 1] === "|" ? namesPrinted(before, this.#names, this.#known()) : undefined;
      this.#namesAt = this.#places;
      this.#fed = command;
      this.#apart(command);
    }
    this.#moments.mix(from, false);
    this.#piped = [];
    this.#names = undefined;
  }

  /** One of several ways, or none: afterwards nothing is certain about what any of them sets. */
  #branches(node: SyntaxNode): void {
    const bindings = this.#bindings;
    const places = this.#places;
    forEachChild(node, (child) => {
      this.#bindings = this.#without(bindings, node);
      if (child.type === "CompoundList" || child.type === "CaseItem") this.#places = eitherPlace(places, this.#places);
      this.#visit(child);
    });
    this.#places = eitherPlace(places, this.#places);
    this.#bindings = this.#without(bindings, node);
  }

  #without(bindings: Bindings, node: SyntaxNode): Bindings {
    return withoutSet(bindings, settersIn(node), this.#numbers);
  }

  /** What variables hold, as far as it is known here: names of files mean others in another folder, and have not been looked at there. */
  #known(): Bindings {
    const isKnown = (word: ShellWord): boolean => {
      const bound = this.#boundAt.get(word);
      return bound === undefined || bound.places === this.#places;
    };
    return new Map([...this.#bindings].map(([name, word]) => [name, isKnown(word) ? word : unknownWord]));
  }

  #withNames(bindings: Bindings, [name, word]: readonly [string, ShellWord]): Bindings {
    // Each time a word of its own: the same one may be bound elsewhere.
    const own = { ...word };
    if (word.kind === "glob" || word.kind === "below") this.#boundAt.set(own, { places: this.#places });
    return new Map([...bindings, [name, own]]);
  }

  #namesHere(): PrintedNames | undefined {
    return this.#places !== undefined && this.#places === this.#namesAt ? this.#names : undefined;
  }

  /** With another input, what is in the pipe is not read. */
  #redirected(redirects: readonly Redirection[], run: () => void): void {
    const names = this.#names;
    if (redirects.some(setsInput)) this.#names = undefined;
    run();
    this.#names = names;
  }

  #anytime(run: () => void): void {
    const from = this.#moments.count();
    run();
    this.#moments.detach(from);
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

  /** What bash puts in place of these words is listed, whatever is done with it. */
  #notePatterns(words: readonly Word[]): void {
    for (const word of words.flatMap((one) => readWord(one, this.#known())))
      if (word.kind === "glob" || word.splits || word.pattern)
        this.#patterns.push({ word, places: this.#places, moment: this.#moments.next() });
  }

  #visitFor(node: Extract<SyntaxNode, { type: "For" }>): void {
    for (const word of node.wordlist ?? []) this.#visit(word);
    this.#notePatterns(node.wordlist ?? []);
    const values = (node.wordlist ?? []).flatMap(
      (word) => namesIn(word, this.#known())?.map((name) => ({ ...name, splits: false })) ?? readWord(word, this.#known()),
    );
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
    const bindings = new Map(this.#without(this.#bindings, node));
    if (binding) bindings.set(binding.name, unknownValue(binding.name, this.#numbers));
    const from = this.#moments.count();
    this.#bindings = binding?.value ? this.#withNames(bindings, [binding.name, binding.value]) : bindings;
    if (node.type === "While") {
      this.#visit(node.clause);
      const names = node === this.#fed ? this.#namesHere() : undefined;
      const given = names && nameGiven(node, names);
      if (given) this.#bindings = this.#withNames(this.#bindings, given);
      this.#visit(node.body);
    } else this.#visit(node);
    if (this.#places !== before) this.doubt("it changes directory in a loop");
    this.#bindings = bindings;
    this.#moments.mix(from, true);
  }

  #visitRedirection(node: Redirection): void {
    this.#children(node);
    if (node.type !== "Redirect") return;
    const { operator, target } = node;
    const [word = unknownWord] = target ? readWord(target, this.#known()) : [];
    if (operator === "<&" || (operator === ">&" && word.kind === "exact" && /^(?:\d+-?|-)$/.test(word.text))) return;
    if (!/^(?:>|>>|<|>\||&>|&>>|>&)$/.test(operator)) this.doubt(`it redirects with ${operator}`);
    const certain = word.kind === "exact" || (operator === "<" && word.kind !== "open");
    const use: FileUse = { word: certain ? word : { ...word, kind: "open" }, places: this.#places, moment: this.#moments.next() };
    if (operator === "<") this.#reads.push(use);
    else this.#writes.push(use);
  }

  #visitCommand(node: Command): void {
    this.#children(node);
    // The parser takes `A=<(x) y` apart as `A= <(x) y`; bash runs y.
    if (hasTornWord(node)) this.doubt("a substitution is part of a word");
    const assignments = node.prefix.filter((part) => part.type === "Assignment");
    const settings = assignments.map((part) => ({ name: part.name, value: assignedWord(part, this.#known()), exported: true }));
    if (settings.some(({ value }) => value && /[^\P{Cc}\t\n]/u.test(value.text))) {
      // Readers disagree where such a line ends: nothing is said about the rest of it.
      this.doubt("it sets a variable to control characters");
      return;
    }
    if (!node.name) {
      for (const one of assignments) this.#bindings = withAssignment(this.#known(), one, this.#numbers);
      return;
    }
    const words = wordsOfCommand([node.name, ...node.args], this.#known());
    const program = this.#program(words, settings);
    this.#bindings = this.#without(this.#bindings, node);
    if (program) this.#programs.push(readsInput(program) ? this.#withInput(program, node) : program);
  }

  /** A shell that reads commands from its input: those that are written out count for what is forbidden. */
  #withInput(program: Program, node: Command): Program {
    const texts = [...this.#piped, ...node.redirects.flatMap(textOfRedirection)];
    const toProgram = (text: string): Program[] => this.#inside({ type: "script", text, sameShell: false, transparent: false });
    return { ...program, inside: [...program.inside, ...this.#nested(() => texts.flatMap(toProgram))] };
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
    if (plain) this.doubt(builtinObjection(name, words));
    const places = this.#places;
    const inner = plain ? findInner(name, words, this.#namesHere()) : [];
    const from = this.#moments.count();
    const own = {
      name,
      words,
      places,
      moment: this.#moments.next(),
      settings: [...settings, ...inner.flatMap((one) => (one.type === "program" ? (one.settings ?? []) : []))],
    };
    const inside = this.#nested(() => inner.flatMap((one) => this.#inside(one)));
    // Where a search starts is settled before it runs anything.
    if (inside.length > 0) this.#moments.mix(from + 1, name === "find" || name === "xargs" || name === "watch");
    if (name === "cd") this.#places = placesAfterCd(words, this.#places);
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
}

function readsInput(program: Program): boolean {
  return program.hidden === commandsFromInput || program.inside.some(readsInput);
}
