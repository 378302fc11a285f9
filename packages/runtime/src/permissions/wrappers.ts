import { ofInterpreter, ofShell, ofSource, readsAlike } from "./code-runners.ts";
import { type Inner, joined, obscure, type Words } from "./inner.ts";
import { splitGit } from "./git-commands.ts";
import { mayBeSyntax, readExpression } from "./find-expression.ts";
import { type GivenOption, readWords } from "./option-grammar.ts";
import { type PrintedNames, wordsOfNames } from "./printed-names.ts";
import { rowOf, takesNames } from "./program-table.ts";
import { isLanguage, isObscure, isShell, isTold } from "./interpreters.ts";
import { startsOfRun } from "./package-runners.ts";
import type { Setting } from "./parsed-command.ts";
import { isWrittenAwk } from "./read-only-scripts.ts";
import { exactWord, isPlain, type ShellWord, unknownWords } from "./shell-words.ts";

/** Programs that run other programs, code or scripts given as words. Empty for all others. */
export function findInner(name: string, words: Words, fed?: PrintedNames | undefined): Inner[] {
  const simple = Object.hasOwn(simpleWrappers, name) ? simpleWrappers[name] : undefined;
  if (simple) return throughOptions(name, words, simple);
  if (isShell(name)) return ofShell(name, words);
  const run = ofPackageRunner(name, words);
  if (run.length > 0) return run;
  if (isLanguage(name)) return ofInterpreter(name, words);
  if (isObscure(name)) return [obscure(name, words)];
  switch (name) {
    case "env":
      return ofEnv(words);
    case "eval":
      return [joined(words.slice(1), { sameShell: true, transparent: false })];
    case "source":
    case ".":
      return ofSource(words);
    case "jobs":
      return words.every((word) => isPlain(word) && !/^-.*x/.test(word.text)) ? [] : [obscure(name, words)];
    case "trap":
      return ofTrap(words);
    case "xargs":
      return ofXargs(words, fed);
    case "find":
      return ofFind(words);
    case "watch":
      return ofWatch(words);
    case "git":
      return ofGit(words);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return isWrittenAwk(words.slice(1)) ? [] : [obscure("awk", words, false)];
    case "let":
      return [{ type: "hidden", reason: "let computes" }];
    case "declare":
    case "typeset":
    case "local":
    case "export":
    case "readonly":
    case "read":
    case "unset":
    case "printf":
    case "test":
    case "[":
      return words.some((word) => /\[.*[$`]/s.test(word.text)) ? [{ type: "hidden", reason: `${name} may evaluate a word` }] : [];
    case "mapfile":
    case "readarray":
    case "bind":
    case "complete":
      return words.every((word) => isPlain(word) && !/^-.*[CxF]/.test(word.text)) ? [] : [obscure(name, words)];
    default:
      if (/^git-./.test(name)) return [ofGitProgram(name, words)];
      return words.some((word) => isTold(name, word.text)) ? [obscure(name, words)] : [];
  }
}

/** Options in front of the inner program: letters without and with a value, long ones with `=` where they take one. */
type Options = {
  readonly flags: string;
  readonly valued: string;
  readonly long: readonly string[];
  /** Operands before the program, such as the time of `timeout`. */
  readonly operands: number;
  readonly transparent: boolean;
  readonly settings: boolean;
  readonly sameShell: boolean;
};

const wrapper = (flags: string, valued: string, more: Partial<Options> = {}): Options => ({
  flags,
  valued,
  long: [],
  operands: 0,
  transparent: true,
  settings: false,
  sameShell: false,
  ...more,
});

const simpleWrappers: Readonly<Record<string, Options>> = {
  command: wrapper("p", "", { sameShell: true }),
  builtin: wrapper("", "", { sameShell: true }),
  exec: wrapper("cl", "a"),
  nohup: wrapper("", ""),
  nice: wrapper("0123456789", "n", { long: ["--adjustment="] }),
  ionice: wrapper("t", "cn"),
  setsid: wrapper("cfw", ""),
  stdbuf: wrapper("", "ioe", { long: ["--input=", "--output=", "--error="] }),
  time: wrapper("pv", "f"),
  timeout: wrapper("v", "ks", {
    long: ["--preserve-status", "--foreground", "--verbose", "--kill-after=", "--signal="],
    operands: 1,
  }),
  sudo: wrapper("EHnkKSPbAB", "ugpCDhrtTU", {
    long: ["--user=", "--group=", "--non-interactive"],
    transparent: false,
    settings: true,
  }),
  doas: wrapper("nL", "uC", { transparent: false, settings: true }),
  busybox: wrapper("", "", { transparent: false }),
  toybox: wrapper("", "", { transparent: false }),
};

function throughOptions(name: string, words: Words, options: Options): Inner[] {
  const operand = skipOptions(words, options);
  const asks = name === "command" && isPlain(words[1]) && /^-[pvV]*[vV]$/.test(words[1].text);
  if (operand === undefined) return asks ? [] : [obscure(name, words)];
  const settings = options.settings ? settingsAt(words, operand) : [];
  const at = operand + settings.length + options.operands;
  if (!isFixed(words.slice(1, at))) return [obscure(name, words)];
  const { sameShell, transparent } = options;
  return at < words.length ? [{ type: "program", words: words.slice(at), at, settings, sameShell, transparent }] : [];
}

/** The index of the first operand; undefined when an option is not known. */
function skipOptions(words: Words, { flags, valued, long }: Options): number | undefined {
  for (let at = 1; ; at++) {
    const word = words[at];
    if (!word) return at;
    if (!isPlain(word)) return word.text.startsWith("-") || word.splits || word.text === "" ? undefined : at;
    const { text } = word;
    if (text === "--") return at + 1;
    if (!text.startsWith("-") || text === "-") return at;
    if (text.startsWith("--")) {
      const option = text.replace(/=.*/s, "=");
      if (!long.includes(option) && !long.includes(`${option}=`)) return undefined;
      if (!text.includes("=") && long.includes(`${option}=`)) at++;
      continue;
    }
    const taker = [...text.slice(1)].findIndex((letter) => valued.includes(letter));
    const letters = taker === -1 ? text.slice(1) : text.slice(1, taker + 1);
    if (![...letters].every((letter) => flags.includes(letter))) return undefined;
    if (taker + 2 === text.length) at++;
  }
}

/** None of these words can turn out to be several, another option, or nothing. */
function isFixed(words: Words): boolean {
  return words.every((word) => isPlain(word) || (!word.splits && word.kind !== "glob" && /^[^-=][^=]*=/.test(word.text)));
}

/** `env` takes whatever holds an `=` for a variable. */
function settingsAt(words: Words, from: number): Setting[] {
  const rest = words.slice(from);
  const end = rest.findIndex(({ text }) => !text.includes("="));
  return rest.slice(0, end === -1 ? rest.length : end).map((word) => {
    const at = word.text.indexOf("=");
    return { name: word.text.slice(0, at), value: { ...word, text: word.text.slice(at + 1) }, exported: true };
  });
}

function ofEnv(words: Words): Inner[] {
  const start = skipOptions(words, wrapper("i0v", "uC", { long: ["--ignore-environment", "--null", "--unset=", "--chdir="] }));
  if (start === undefined) return [obscure("env", words)];
  // A dash alone is one more way to write `-i`.
  const at = words[start]?.text === "-" ? start + 1 : start;
  const settings = settingsAt(words, at);
  const next = at + settings.length;
  // Elsewhere, relative paths would mean other files.
  if (!isFixed(words.slice(1, next))) return [obscure("env", words)];
  const moved = words.slice(1, at).some((word) => /^-[^-]*C|^--chdir/.test(word.text));
  if (moved) return [obscure("env", words)];
  return next < words.length
    ? [{ type: "program", words: words.slice(next), at: next, settings, sameShell: false, transparent: true }]
    : [];
}

/** Enough to forbid what it runs: whoever allows the runner has allowed that. */
function ofPackageRunner(name: string, words: Words): Inner[] {
  const { programs, scripts } = startsOfRun(name, words);
  const how = { sameShell: false, transparent: false };
  return [
    ...programs.map((inner): Inner => ({ type: "program", words: inner, at: words.length - inner.length, ...how })),
    ...scripts.map((text): Inner => ({ type: "script", text, ...how })),
  ];
}

function ofTrap(words: Words): Inner[] {
  const at = words[1]?.text === "--" ? 2 : 1;
  const action = words[at];
  if (!action || words.length <= at + 1) return [];
  if (!isPlain(action)) return [{ type: "hidden", reason: "the action of a trap is not written out" }];
  if (/^(?:-|-[lp]|\d*)$/.test(action.text)) return [];
  return [{ type: "script", text: action.text, sameShell: true, transparent: false }];
}

function ofXargs(words: Words, fed: PrintedNames | undefined): Inner[] {
  const row = rowOf("xargs");
  const { options = [], operands = [], doubt } = row ? readWords(row, words.slice(1)) : {};
  const at = operands[0] ? operands[0].at + 1 : words.length;
  const isKnown = ({ name, exact, effect }: GivenOption): boolean =>
    exact && effect !== "unknown" && !/^(?:-[ile]|--eof)$/.test(name);
  // Of `-I` and `-n` the later one counts.
  const portions = options.filter(({ name }) => /^(?:-[InL]|--replace|--max-(?:args|lines))$/.test(name));
  const replacing = portions.find(({ name }) => /^(?:-I|--replace)$/.test(name));
  if (doubt !== undefined || !options.every(isKnown) || (replacing && portions.length > 1) || !isFixed(words.slice(1, at)))
    return [obscure("xargs", words)];
  if (at >= words.length) return [];
  const inner = words.slice(at);
  const looks = isPlain(inner[0]) && takesNames(inner[0].text);
  const splitsAtZero = options.some(({ name }) => name === "-0" || name === "--null");
  const names =
    looks && fed && !options.some(({ name }) => /^(?:-d|--delimiter)$/.test(name)) ? wordsOfNames(fed, splitsAtZero) : undefined;
  const more: Words = names ?? [unknownWords];
  if (!replacing) return [{ type: "program", words: [...inner, ...more], at, sameShell: false, transparent: true }];
  const marker = replacing.value?.text || "{}";
  // One name at a time.
  const program = inner.flatMap((word) =>
    word.text === marker && names ? names.map((name) => ({ ...name, splits: false })) : [openAt(word, marker)],
  );
  return [{ type: "program", words: program, at, sameShell: false, transparent: true }];
}

/** `-exec` and its kin; `{}` is some path below where the search starts, and with `+` any number of them. */
function ofFind(words: Words): Inner[] {
  const [, ...rest] = words;
  const found: Inner[] = rest.some(mayBeSyntax) ? [obscure("find", words)] : [];
  const { starts, filesOnly, only, programs } = readExpression(rest);
  const needs = { links: !filesOnly, names: false, only };
  const below = (splits: boolean): ShellWord[] =>
    starts.every(({ kind }) => kind === "exact")
      ? starts.map((start) => ({ ...start, kind: "below", splits, needs }))
      : [unknownWords];
  for (const { option, at, end } of programs) {
    // Each time in another folder: its words name other files than they say.
    if (option.endsWith("dir")) found.push(obscure("find", words));
    const names = below(rest[end]?.text !== ";");
    const program = rest.slice(at, end).flatMap((word) => (word.text === "{}" ? names : [openAt(word, "{}")]));
    if (program.length > 0) found.push({ type: "program", words: program, at: at + 1, sameShell: false, transparent: true });
  }
  return found;
}

/** Known up to where something else is put in. */
function openAt(word: ShellWord, marker: string): ShellWord {
  const at = word.text.indexOf(marker);
  return at === -1 ? word : { ...word, kind: "open", text: word.text.slice(0, at) };
}

function ofWatch(words: Words): Inner[] {
  const options = wrapper("bcdegtw", "n", {
    long: ["--interval=", "--differences", "--errexit", "--chgexit", "--no-title", "--color"],
  });
  const at = skipOptions(words, options);
  if (at === undefined || !words.every(isPlain)) return [obscure("watch", words)];
  if (at >= words.length) return [];
  const script = joined(words.slice(at), { sameShell: false, transparent: true });
  return script.type === "script" && readsAlike(script.text) ? [script] : [obscure("watch", words)];
}

/** `git-push`, as git itself starts it from a folder of its own. */
function ofGitProgram(name: string, words: Words): Inner {
  const call = [exactWord("git"), exactWord(name.slice("git-".length)), ...words.slice(1)];
  return { type: "program", words: call, at: 0, sameShell: false, transparent: false };
}

/** Commands that git is given to run. */
function ofGit(words: Words): Inner[] {
  const call = splitGit(words.slice(1));
  if (!call) return [{ type: "hidden", reason: "git is called in a way that cannot be told" }];
  const scripts: string[] = [];
  words.forEach((word, index) => {
    const next = words[index + 1]?.text ?? "";
    if (word.text === "-c" && call.globals.includes(word)) scripts.push(next.replace(/^[^=]*=!?/, ""));
    if (/^--(?:upload|receive)-pack$/.test(word.text) || (call.subcommand === "rebase" && /^(?:-x|--exec)$/.test(word.text)))
      scripts.push(next);
    const value = /^--(?:exec|upload-pa\w*|receive-pa\w*|open-files-in-pager)=(.*)/s.exec(word.text)?.[1];
    if (value) scripts.push(value);
  });
  const [action] = call.rest;
  if (/^(?:bisect run|submodule foreach)$/.test(`${call.subcommand} ${action?.text}`))
    scripts.push(
      call.rest
        .slice(1)
        .map((word) => word.text)
        .join(" "),
    );
  const commands = scripts.filter((text) => /^[\w./~-]/.test(text));
  return commands.length > 0 ? [{ type: "hidden", reason: "git is given a command to run", scripts: commands }] : [];
}
