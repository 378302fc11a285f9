import { type Command, forEachChild, parse, type ParsedScript, type SyntaxNode, type Word } from "unbash";
import { assignedWord, namesIn, wordsOfCommand } from "./command-words.ts";
import type { Findings } from "./findings.ts";
import { Moments } from "./moments.ts";
import { doubtAbout } from "./node-doubts.ts";
import type { FileUse } from "./parsed-command.ts";
import { asksAboutFile, comparesFiles } from "./file-tests.ts";
import { PipeInput } from "./pipe-input.ts";
import { eitherPlace } from "./places.ts";
import { nameGiven } from "./printed-names.ts";
import { ProgramReader } from "./program-reader.ts";
import { ScriptNumbers } from "./script-numbers.ts";
import { beforeAny, valueOnceSet, withAssignment } from "./shell-bindings.ts";
import { ShellScope } from "./shell-scope.ts";
import { setByTheWay, type Setters, settersIn, setsVariables } from "./shell-setters.ts";
import { doubtAboutText, hasTornWord, textOfRedirection } from "./shell-syntax.ts";
import { settingObjection } from "./shell-variables.ts";
import { exactWord, readWord, type ShellWord, unknownWord } from "./shell-words.ts";
import type { GivenName } from "./inner.ts";

const maxLevels = 2_000;
const maxRounds = 16;
const computedName = "it may set a variable by a computed name";

type Of<Type> = Extract<SyntaxNode, { type: Type }>;

/** Goes through the syntax of a script in the order in which bash runs it. */
export class ScriptReader {
  readonly #findings: Findings;
  readonly #scope = new ShellScope();
  readonly #input = new PipeInput();
  readonly #moments = new Moments();
  readonly #programs: ProgramReader;
  #level = 0;

  constructor(findings: Findings) {
    this.#findings = findings;
    this.#programs = new ProgramReader({
      findings,
      scope: this.#scope,
      input: this.#input,
      moments: this.#moments,
      readScript: (text, given) => this.#readText(text, { isInner: true, given }),
      deeper: (levels, run) => this.#deeper(levels, run),
    });
  }

  read(text: string): void {
    this.#readText(text, { isInner: false });
  }

  /** `isInner`: the program that runs it may have set variables for it. */
  #readText(text: string, { isInner, given }: { isInner: boolean; given?: GivenName | undefined }): void {
    this.#findings.doubt(doubtAboutText(text));
    const script = parse(text);
    const found = settersIn(script);
    this.#noteSetters(found);
    const { numbers } = this.#scope;
    this.#scope.numbers = new ScriptNumbers(found, !isInner);
    this.#scope.bindings = beforeAny(isInner ? { ...found, any: true } : found, this.#scope.numbers);
    if (given) this.#scope.bind(...given);
    this.#visit(script);
    this.#findings.doubt(found.computed ? computedName : undefined);
    this.#findings.doubt(this.#scope.numbers.mayCompute(text) ? "it may compute with ((…))" : undefined);
    this.#scope.numbers = numbers;
  }

  #noteSetters({ setters }: Setters): void {
    for (const { name, exported, temporary, text } of setters) {
      this.#findings.doubt(settingObjection(name, temporary));
      const value = text === undefined ? undefined : exactWord(text);
      if (!temporary) this.#findings.settings.push({ name, value, exported });
    }
  }

  #visit = (node: SyntaxNode): void => this.#deeper(1, () => this.#read(node));

  #read(node: SyntaxNode): void {
    this.#findings.doubt(doubtAbout(node, this.#scope.numbers));
    this.#scope.numbers.explain(node);
    switch (node.type) {
      case "Script":
        return this.#visitScript(node);
      case "Command":
        return this.#input.redirected(node.redirects, () => this.#visitCommand(node));
      case "Redirected":
        return this.#input.redirected(node.redirects, () => this.#visitRedirected(node));
      case "Statement":
        return this.#visitStatement(node);
      case "AndOr":
        return this.#visitAndOr(node);
      case "Pipeline":
        return this.#visitPipeline(node);
      case "CommandExpansion":
      case "ArithmeticCommandExpansion":
      case "Subshell":
      case "Function":
        return this.#scope.apart(() => this.#children(node));
      case "ProcessSubstitution":
      case "Coproc": {
        const isFed = this.#input.isFed || node.type === "Coproc" || node.operator === ">";
        return this.#input.replaced(isFed, () => this.#anytime(() => this.#children(node)));
      }
      case "While":
        return this.#loop(node, () => this.#visitWhile(node));
      case "For":
        return this.#visitFor(node);
      case "Select":
        this.#notePatterns(node.wordlist ?? []);
        return this.#loop(node, () => this.#children(node));
      case "ArithmeticFor":
        return this.#loop(node, () => this.#visitArithmeticFor(node));
      case "ArrayValue":
        this.#notePatterns(node.elements);
        return this.#children(node);
      case "If":
      case "Case":
        return this.#branches(node);
      case "Redirect":
        return this.#visitRedirection(node);
      case "TestUnary":
      case "TestBinary":
        this.#noteTested(node);
        return this.#children(node);
      default:
        this.#children(node);
        return this.#scope.setByTheWay(node);
    }
  }

  #children(node: SyntaxNode): void {
    forEachChild(node, this.#visit);
  }

  #deeper<Result>(levels: number, run: () => Result): Result {
    this.#level += levels;
    if (this.#level > maxLevels) throw new RangeError("it is nested too deeply");
    const result = run();
    this.#level -= levels;
    return result;
  }

  #visitScript(node: ParsedScript): void {
    this.#children(node);
    // The parser looks into some parts only when they are visited.
    const [error] = node.errors ?? [];
    if (error) this.#findings.doubt(`it cannot be parsed (${error.message})`);
  }

  /** Redirections come first: what the command sets does not change where they lead. */
  #visitRedirected({ redirects, command }: Of<"Redirected">): void {
    for (const part of [...redirects, command]) this.#visit(part);
  }

  #visitStatement(node: Of<"Statement">): void {
    const { places } = this.#scope;
    if (node.background) return this.#anytime(() => this.#visit(node.command));
    this.#visit(node.command);
    this.#scope.places = eitherPlace(places, this.#scope.places);
  }

  /** Beside the rest of the line, in a process of its own. */
  #anytime(run: () => void): void {
    const from = this.#moments.count();
    this.#scope.apart(run);
    this.#moments.detach(from);
  }

  /** What stands behind `&&` has what comes before it; behind `||` nothing but the first is certain. */
  #visitAndOr(node: Of<"AndOr">): void {
    const scope = this.#scope;
    let possible = scope.places;
    let certain = scope.bindings;
    node.commands.forEach((command, index) => {
      if (node.operators[index - 1] === "||") {
        scope.places = possible;
        scope.bindings = certain;
      }
      this.#visit(command);
      possible = eitherPlace(possible, scope.places);
      certain = index === 0 ? scope.bindings : scope.without(certain, command);
    });
    scope.places = possible;
    scope.bindings = certain;
  }

  #visitPipeline(node: Of<"Pipeline">): void {
    if (node.commands.length === 1) return this.#children(node);
    const from = this.#moments.count();
    this.#input.within(() => {
      for (const [index, command] of node.commands.entries()) {
        const before = node.commands[index - 1];
        if (before) this.#input.follow(before, node.operators[index - 1], this.#scope);
        this.#scope.apart(() => this.#visit(command));
      }
    });
    this.#moments.mix(from, false);
  }

  /** One of several ways, or none: afterwards nothing is certain about what any of them sets. */
  #branches(node: SyntaxNode): void {
    const uncertain = this.#scope.without(this.#scope.bindings, node);
    forEachChild(node, (child) => {
      this.#scope.bindings = uncertain;
      this.#visit(child);
    });
    this.#scope.bindings = uncertain;
  }

  /** What bash puts in place of these words is listed, whatever is done with it. */
  #notePatterns(words: readonly Word[]): void {
    for (const word of words.flatMap((one) => namesIn(one, this.#scope.known()) ?? readWord(one, this.#scope.known())))
      if (word.kind === "glob" || word.splits || word.pattern)
        this.#findings.patterns.push({ word, places: this.#scope.places, moment: this.#moments.next() });
  }

  /** `[[ -e x ]]` looks at a file as much as `ls` does. */
  #noteTested(node: Of<"TestUnary"> | Of<"TestBinary">): void {
    const asks = node.type === "TestUnary" ? asksAboutFile(node.operator) : comparesFiles(node.operator);
    const words = node.type === "TestUnary" ? [node.operand] : [node.left, node.right];
    for (const word of asks ? words : []) {
      const [read = unknownWord] = readWord(word, this.#scope.known());
      this.#findings.tests.push({ word: read, places: this.#scope.places, moment: this.#moments.next(), namesOnly: true });
    }
  }

  #visitFor(node: Of<"For">): void {
    const { wordlist = [], name, body } = node;
    for (const word of wordlist) this.#visit(word);
    this.#notePatterns(wordlist);
    for (const value of this.#valuesOf(node))
      this.#loop(node, () => {
        this.#scope.bind(name.value, value ?? valueOnceSet(name.value, this.#scope.numbers));
        this.#visit(body);
      });
  }

  /** What the variable of a loop holds, round by round; undefined where that cannot be told. */
  #valuesOf({ wordlist = [], body }: Of<"For">): readonly (ShellWord | undefined)[] {
    const bindings = this.#scope.known();
    const values = wordlist.flatMap(
      (word) => namesIn(word, bindings)?.map((one) => ({ ...one, splits: false })) ?? readWord(word, bindings),
    );
    const isKnown = values.length > 0 && values.length <= maxRounds && !settersIn(body).any;
    return isKnown && !values.some((word) => word.kind === "open" || word.splits || word.tilde) ? values : [undefined];
  }

  #visitArithmeticFor(node: Of<"ArithmeticFor">): void {
    const first = node.initialize ? setByTheWay(node.initialize) : [];
    for (const { name } of first) this.#scope.bind(name, valueOnceSet(name, this.#scope.numbers));
    this.#children(node);
  }

  #visitWhile(node: Of<"While">): void {
    this.#visit(node.clause);
    const names = this.#input.namesAt(this.#scope.places);
    const given = names && nameGiven(node, names);
    if (given) this.#scope.bind(...given);
    this.#visit(node.body);
  }

  /** What changes directory in a loop ends up anywhere. */
  #loop(node: SyntaxNode, run: () => void): void {
    const { places, bindings } = this.#scope;
    const uncertain = this.#scope.without(bindings, node);
    const from = this.#moments.count();
    this.#scope.bindings = uncertain;
    run();
    if (this.#scope.places !== places) this.#findings.doubt("it changes directory in a loop");
    this.#scope.bindings = uncertain;
    this.#moments.mix(from, true);
  }

  #visitRedirection(node: Of<"Redirect">): void {
    this.#children(node);
    const { operator, target } = node;
    const [word = unknownWord] = target ? readWord(target, this.#scope.known()) : [];
    if (operator === "<&" || (operator === ">&" && word.kind === "exact" && /^(?:\d+-?|-)$/.test(word.text))) return;
    if (!/^(?:>|>>|<|>\||&>|&>>|>&)$/.test(operator)) this.#findings.doubt(`it redirects with ${operator}`);
    const certain = word.kind === "exact" || (operator === "<" && word.kind !== "open");
    const { places } = this.#scope;
    const use: FileUse = { word: certain ? word : { ...word, kind: "open" }, places, moment: this.#moments.next() };
    (operator === "<" ? this.#findings.reads : this.#findings.writes).push(use);
  }

  #visitCommand(node: Command): void {
    this.#children(node);
    const { name, prefix, args, redirects } = node;
    const scope = this.#scope;
    // The parser takes `A=<(x) y` apart as `A= <(x) y`; bash runs y.
    if (hasTornWord(node)) this.#findings.doubt("a substitution is part of a word");
    const assignments = prefix.filter((part) => part.type === "Assignment");
    const settings = assignments.map((part) => ({ name: part.name, value: assignedWord(part, scope.known()), exported: true }));
    // Readers disagree where such a line ends: nothing is said about the rest of it.
    if (settings.some(({ value }) => value && /[^\P{Cc}\t\n]/u.test(value.text)))
      return this.#findings.doubt("it sets a variable to control characters");
    if (!name) {
      for (const one of assignments) scope.bindings = withAssignment(scope.known(), one, scope.numbers);
      return;
    }
    const words = wordsOfCommand([name, ...args], scope.known());
    const program = this.#programs.read(words, settings);
    // Found by way of a variable, it may set names that are written nowhere.
    if (name.parts && setsVariables(`${words[0]?.text}`)) this.#findings.doubt(computedName);
    scope.bindings = scope.without(scope.bindings, node);
    const texts = [...this.#input.words, ...redirects.flatMap(textOfRedirection)];
    this.#findings.addProgram(this.#programs.withInput(program, texts));
  }
}
