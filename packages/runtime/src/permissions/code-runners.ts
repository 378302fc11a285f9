import { type GivenName, type Inner, obscure, type Words } from "./inner.ts";
import { modulesRun } from "./script-names.ts";
import { isPlain, mayBeOption, type ShellWord } from "./shell-words.ts";

export const commandsFromInput = "a shell reads its commands from its input";

/** What a shell is given to run: words, a file, or its input. */
export function ofShell(name: string, words: Words): Inner[] {
  if (checksOnly(words)) return [];
  let code = false;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    if (!isPlain(word)) {
      if (code) break;
      return [obscure("a shell", words)];
    }
    if (word.text === "--version" || word.text === "--help") return [];
    if (word.text === "--" || word.text === "-") {
      at++;
      break;
    }
    if (!/^[-+]./.test(word.text)) break;
    const takesName = /^-[ceuxl]*o$/.test(word.text);
    if (!takesName && !/^(?:-[ceuxls]+|--norc|--noprofile)$/.test(word.text)) return [obscure("a shell", words)];
    if (takesName && !isShellOption(words[++at])) return [obscure("a shell", words)];
    if (/^-[^-]*c/.test(word.text)) code = true;
    if (/^-[^-]*s/.test(word.text)) return [{ type: "hidden", reason: commandsFromInput }];
  }
  const operand = words[at];
  if (code) {
    if (!operand) return [];
    if (!isPlain(operand))
      return [{ type: "hidden", reason: "the code for a shell is not written out", scripts: [operand.text] }];
    if (!/bash$/.test(name) && !readsAlike(operand.text))
      return [{ type: "hidden", reason: "shells disagree about the code", scripts: [operand.text] }];
    const given = nameGiven(operand.text, words.slice(at + 1));
    return [{ type: "script", text: operand.text, given, sameShell: false, transparent: true }];
  }
  return operand ? ofScript(operand, isPlain(operand)) : [{ type: "hidden", reason: commandsFromInput }];
}

/** `source FILE`, in this very shell; `-p` takes the folders where to look. */
export function ofSource(words: Words): Inner[] {
  const at = words[1]?.text === "--" ? 2 : 1;
  const operand = words[at];
  if (!operand) return [];
  return at === 1 && operand.text.startsWith("-")
    ? [obscure("source", words, false)]
    : ofScript(operand, operand.kind === "exact");
}

function ofScript(file: ShellWord, isWritten: boolean): Inner[] {
  if (isInput(file.text)) return [{ type: "hidden", reason: commandsFromInput }];
  return isWritten ? [] : [{ type: "hidden", reason: "the script for a shell is not written out" }];
}

/** `/dev/stdin`, and every other name of a file that is open already. */
function isInput(text: string): boolean {
  return /(?:^|\/)dev\/(?:stdin|fd\/)|(?:^|\/)fd\/\d+$/.test(text.replace(/\/(?:\.?\/)+/g, "/"));
}

/** `sh -c 'wc -l "$1"' _ {}`: one name at a time, in a script that changes none of its parameters. */
function nameGiven(script: string, words: Words): GivenName | undefined {
  const last = words.at(-1);
  if (!last?.needs || last.splits || words.length > 2 || !words.slice(0, -1).every(isPlain)) return undefined;
  if (/\b(?:set|shift|function)\b|\(\s*\)/.test(script)) return undefined;
  // Without quotes, the shell would take the name apart.
  return [String(words.length - 1), { ...last, needs: { ...last.needs, names: true } }];
}

function isShellOption(word: ShellWord | undefined): boolean {
  return isPlain(word) && /^(?:pipefail|errexit|nounset)$/.test(word.text);
}

/** `bash -n file` reads the script and runs nothing of it. */
function checksOnly([, option, file, ...more]: Words): boolean {
  return isPlain(option) && option.text === "-n" && file !== undefined && !mayBeOption(file) && !file.splits && more.length === 0;
}

/** Means the same to bash and to the smaller shells that are called sh. */
export function readsAlike(script: string): boolean {
  return !/\$['"]|\[\[|\(\(|[<>]\(|<<<|&>|\|&|[{}\\`]|\b(?:function|select|coproc|time)\b/.test(script);
}

/** The same of a program that runs another language; what that does is not followed. */
export function ofInterpreter(name: string, words: Words): Inner[] {
  const code = name.startsWith("php")
    ? /^-.*r/
    : name.startsWith("python") || name.startsWith("pypy")
      ? /^-[^-]*c/
      : /^(?:-[^-]*[eEp]|--eval|--print|eval$)/;
  const [, ...rest] = words;
  const operand = rest.findIndex((word) => !isPlain(word) || !/^-./s.test(word.text));
  const options = operand === -1 ? rest : rest.slice(0, operand + 1);
  if (options.some((word) => code.test(word.text)) || modulesRun(name, words).some(takesCode))
    return [obscure(name, words, false)];
  if (options.some((word) => isPlain(word) && /^--?(?:version|v|V|help|h)$/.test(word.text))) return [];
  const file = rest[operand];
  if (!isPlain(file) || file.text === "-" || isInput(file.text))
    return [{ type: "hidden", reason: `${name} reads its program from its input` }];
  return [];
}

/** Modules of Python that run code, or commands, which are given as words or in the input. */
function takesCode(module: string): boolean {
  return /^(?:timeit|pdb|bdb|ipdb|code|codeop|asyncio|idlelib(?:\..*)?|IPython|ptpython|bpython|)$/.test(module);
}
