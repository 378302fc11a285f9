import { type GivenOption, readWords, type Row } from "./option-grammar.ts";
import { isHarmlessJq, isHarmlessYq } from "./jq-filters.ts";
import type { Program } from "./parsed-command.ts";
import { ruleRowOf } from "./program-table.ts";
import { isHarmlessSed, type SedTexts } from "./read-only-scripts.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

type Words = readonly ShellWord[];

/** A script of sed that may run or write; in-place editing is judged by the files. */
export function sedRisk(words: Words, row: Row, allowing: SedTexts = {}): string | undefined {
  const { options, operands } = readWords(row, words);
  const valuesOf = (...names: string[]): GivenOption[] => options.filter(({ name }) => names.includes(name));
  if (valuesOf("-f", "--file").length > 0) return "sed takes its script from a file";
  if (valuesOf("-i", "--in-place").some(({ value }) => value && (!isPlain(value) || /[/*]/.test(value.text))))
    return "sed would keep the old files elsewhere";
  const given = valuesOf("-e", "--expression");
  const scripts = given.length > 0 ? given.map(({ value }) => value) : operands.slice(0, 1).map(({ word }) => word);
  return scripts.every((word) => word?.kind === "exact" && isHarmlessSed(word.text, allowing))
    ? undefined
    : "the script of sed may run or write something";
}

/** A filter must be written out, and each of its words known. */
export function filterRisk({ name, words }: Pick<Program, "name" | "words">): string | undefined {
  const row = ruleRowOf(name);
  const operands = row ? readWords(row, words.slice(1)).operands.map(({ word }) => word) : [];
  const filter = operands.find((word) => !(name === "yq" && /^(?:e|eval|ea|eval-all)$/.test(word.text)));
  const isHarmless = name === "jq" ? isHarmlessJq : isHarmlessYq;
  return !filter || (isPlain(filter) && isHarmless(filter.text)) ? undefined : `the filter of ${name} may read something else`;
}

/** The words by which a filter reads other files, or runs something. */
export function filterReach(program: Pick<Program, "name" | "words">): string | undefined {
  const reaches = program.words.some(({ text }) => /\b(?:load\w*|strload|import|include|system|modulemeta)\b/.test(text));
  return reaches ? filterRisk(program) : undefined;
}

/** SQL that stays in the database it is given; commands of the shell of sqlite start with a dot. */
export function sqliteRisk(words: Words): string | undefined {
  const operands = words.filter((word) => !isPlain(word) || !word.text.startsWith("-"));
  const isElsewhere = (word: ShellWord): boolean =>
    !isPlain(word) ||
    /(?:^|[\n;])\s*\.|\b(?:attach|readfile|writefile|load_extension|edit|fsdir|lsdir|sqlar\w*|zipfile)\b|\bvacuum\b[^;]*\binto\b|\bpragma\b/i.test(
      word.text,
    );
  if (operands.length < 2) return "sqlite3 would take what it does from its input";
  return operands.slice(1).some(isElsewhere) ? "sqlite3 may run programs or use other files" : undefined;
}

/** Addresses of the web, written out: curl also reads files, and its patterns can make one address into another. */
export function urlRisk(name: string, words: Words): string | undefined {
  if (name === "curl" && words.some(({ text }) => /%output\{/i.test(text))) return "curl would write another file";
  for (const [index, word] of words.entries()) {
    const url = /^--url=(.*)/s.exec(word.text)?.[1] ?? word.text;
    const before = `${words[index - 1]?.text}`;
    const isFile = /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^https?:\/\//i.test(url) && !/^[\w.-]+:\d+(?:\/|$)/.test(url);
    // A value such as `Accept: x` has a colon as well.
    if (isFile && !/\s/.test(url) && !textOptions.test(before)) return `${name} may read or reach ${url}`;
    if (/^[^/?]*[{[]/.test(url) && !textOptions.test(before) && !url.startsWith("-"))
      return `an address for ${name} is a pattern`;
  }
  return undefined;
}

const textOptions =
  /^(?:-[a-zA-Z]*[HdAeuUXwbFmCrxtYyzPh]|--(?:header|data\S*|json|user-agent|user|referer|request|write-out|cookie|form\S*|proxy\S*|post-data|body-data|method|url-query|resolve|connect-to|range|password))$/;

/** A variable for make can hold code that make expands, or the name of a program. */
export function makeVariableRisk(words: Words): string | undefined {
  const assigned = words.find((word) => /^[^-][^=]*=/.test(word.text) && !isHarmlessAssignment(word));
  return assigned && `make ${assigned.text.replace(/=.*/s, "=")} can run something else`;
}

function isHarmlessAssignment(word: ShellWord): boolean {
  const [, name = "", value = "$"] = isPlain(word) ? (/^(\w+)[:?]?=(.*)$/s.exec(word.text) ?? []) : [];
  return /^[A-Za-z0-9_.,-]*$/.test(value) && !programVariables.test(name);
}

const programVariables =
  /^(?:SHELL|MAKE\w*|\.SHELLFLAGS|CC|CXX|CPP|LD|AR|AS|FC|LEX|YACC|RM|CP|MV|INSTALL|SUDO|\w*(?:FLAGS|PREFIX|CMD|COMMAND|BIN|PROG|TOOL|EXEC|PYTHON|NODE|RUBY|PERL|JAVA|GO|CARGO|NPM|GIT|DOCKER|COMPILER|LAUNCHER|WRAPPER|RUNNER))$/i;
