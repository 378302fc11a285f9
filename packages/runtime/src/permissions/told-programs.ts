import { gitOrder } from "./git-orders.ts";
import { readWords } from "./option-grammar.ts";
import type { Program, Setting } from "./parsed-command.ts";
import { ruleRowOf } from "./program-table.ts";
import type { Looking } from "./read-only-commands.ts";
import { findRisk, isEditor, riskOf } from "./risky-options.ts";
import { filterRisk, sedRisk, urlRisk } from "./script-risks.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";
import { shownBy } from "./shown-files.ts";

/**
 * Why a program may read, write or run what no word of the line says: it takes orders in a language of its own, from a file of orders or
 * from a variable. This counts where rules forbid something and nothing but them stands in the way. A program that is understood to
 * look (`looking`) has been judged by its files, and programs of other purposes do what the project says, whatever rules there are.
 */
export function toldRisk(program: Program, looking: Looking | undefined): string | undefined {
  const setting = program.settings.find(isOrder);
  if (setting) return `${setting.name} can make ${program.name} run something else`;
  return looking ? undefined : languageRisk(program);
}

/** A variable that makes programs run what it holds. The bare name of a program is no order that a rule could forbid. */
export function isOrder({ name, value }: Pick<Setting, "name" | "value">): boolean {
  if (value && isPlain(value) && (value.text === "/dev/null" || value.text === "")) return false;
  if (gitSettings.test(name)) return true;
  return runVariables.test(name) && !(value && isPlain(value) && /^-?[\w-]+$/.test(value.text));
}

const gitSettings = /^GIT_(?:CONFIG_(?:COUNT|KEY_\w+|VALUE_\w+|PARAMETERS|GLOBAL|SYSTEM)|EXEC_PATH)$/;
const runVariables =
  /^(?:GIT_(?:EXTERNAL_DIFF|SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|TEMPLATE_DIR)|(?:\w+_)?(?:PAGER|EDITOR|BROWSER|SHELL)|VISUAL|(?:GNU)?MAKEFLAGS|MFLAGS|MAKEFILES|LESSOPEN|LESSCLOSE|LD_\w+|DYLD_\w+|BASH_ENV|ENV|PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|TAR_OPTIONS|RIPGREP_CONFIG_PATH|SSH_ASKPASS)$/;

function languageRisk(program: Program): string | undefined {
  const { name, words } = program;
  const rest = words.slice(1);
  if (isEditor(name)) return riskOf(program, 1);
  if (otherLanguages.test(name)) return codeRisk(program);
  switch (name) {
    case "git":
      return gitOrder(words);
    case "sed":
    case "gsed":
      return sedOrder(program);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
    case "sqlite3":
      return riskOf(program, 1);
    case "jq":
    case "yq":
      return filterRisk(program) ?? orderIn(program);
    case "make":
    case "gmake":
      return makeOrder(rest) ?? orderIn(program);
    case "find":
      return findRisk(rest, /^-(?:fprint.*|fls|files0-from)$/);
    case "curl":
    case "wget":
      return urlRisk(name, rest) ?? orderIn(program);
    case "m4":
    case "gnuplot":
      return `what ${name} does cannot be told`;
    case "psql":
    case "mysql":
    case "mariadb":
      return rest.some((word) => word.text.includes("\\")) ? `${name} may be told to run or read something else` : undefined;
  }
  const shown = shownBy(program)?.type ?? "nothing";
  return shown === "nothing" ? undefined : orderIn(program);
}

/** Languages that are not known as interpreters: their scripts are the project's, code among the words or in the input is not. */
const otherLanguages =
  /^(?:R|octave|julia|guile|sbcl|clisp|erl|elixir|iex|scala|groovy|jshell|ghci?|runghc|runhaskell|swipl|ocaml|racket|raku|clojure|clj|bb|janet|tcc|goawk|original-awk)$/;

function codeRisk({ name, words, isFed }: Program): string | undefined {
  const hasCode = words
    .slice(1)
    .some((word) => !isPlain(word) || /^(?:-[a-z]*[eEcxr]$|-run$|--?(?:eval|execute|code)(?:=|$))/.test(word.text));
  return hasCode || isFed || /awk/.test(name) ? `what ${name} runs cannot be told` : undefined;
}

function sedOrder({ words }: Program): string | undefined {
  const row = ruleRowOf("sed");
  return row && sedRisk(words.slice(1), row, { texts: true });
}

/** An option by which a file, or another program, tells it what to do or which files to take. */
function orderIn({ name, words }: Program): string | undefined {
  const row = ruleRowOf(name);
  const { options } = row ? readWords(row, words.slice(1)) : { options: [] };
  const order = options.find(({ name: option, effect }) => /^(?:runs|lists|configures)$/.test(effect) && option !== "*=");
  return order && `${name} ${order.name} can make it do something else`;
}

/** A variable for make may hold a command. One word, or options alone, are none that a rule could forbid. */
function makeOrder(words: readonly ShellWord[]): string | undefined {
  const order = words.find(
    (word) =>
      /^[^-][^=]*=/.test(word.text) && !(isPlain(word) && /^\w+[:?+]?=(?:[\w./:,@%+-]*|(?:-[\w./:,=+-]+\s*)+)$/.test(word.text)),
  );
  return order && `make ${order.text.replace(/=.*/s, "=")} can run something else`;
}
