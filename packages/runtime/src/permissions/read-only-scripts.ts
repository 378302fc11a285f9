import { isHarmlessAwk } from "./awk-programs.ts";
import { asksAboutFile, comparesFiles } from "./file-tests.ts";
import { comparesFile, endOfProgram, runsProgram, takesValue } from "./find-expression.ts";
import { isHarmlessJq, isHarmlessYq } from "./jq-filters.ts";
import { readLooking, rowOfLooks } from "./looking-options.ts";
import type { Row } from "./option-grammar.ts";
import type { Looking } from "./read-only-commands.ts";
import { exactWord, isPlain, mayBeOption, type ShellWord } from "./shell-words.ts";

type Words = readonly ShellWord[];
const nothing: Looking = { reads: [], writes: [] };

const sedRow = rowOfLooks(
  "-nErsuz -e: -l: --quiet --silent --regexp-extended --separate --null-data --unbuffered --posix --debug --sandbox --expression: --line-length:",
);
const awkRow: Row = { ...rowOfLooks("-F: -v: --field-separator: --assign:"), ordered: true };
const jqRow = rowOfLooks(
  "-rncesSRjaCM --raw-output --null-input --compact-output --exit-status --slurp --sort-keys --raw-input --join-output --tab --indent: " +
    "--ascii-output --color-output --monochrome-output --stream --unbuffered --seq",
);
/** Without `-s`, which writes a file for each part in one of the two programs of that name. */
const yqRow = rowOfLooks(
  "-rjePCMNncy -I: -o: -p: --raw-output --yaml-output --unwrapScalar --tojson --exit-status --prettyPrint --colors --no-colors --no-doc --null-input --indent: --output-format: --input-format:",
);

/** `sed` that prints; in-place editing counts as changing the files, when the script itself is harmless. */
export function readSed(words: Words): Looking | undefined {
  const options = readLooking(words.map(withLines), sedRow);
  if (!options) return undefined;
  const scripts = options.options.filter(({ name }) => name === "-e" || name === "--expression").map(({ value }) => value);
  const files = scripts.length > 0 ? options.operands : options.operands.slice(1);
  const all = scripts.length > 0 ? scripts : options.operands.slice(0, 1);
  return all.length > 0 && all.every((script) => isPlain(script) && isHarmlessSed(script.text))
    ? { ...nothing, reads: files }
    : undefined;
}

/** `"${from},${to}p"`: whatever the numbers are, also less than nothing, it prints or is refused. */
function withLines(word: ShellWord): ShellWord {
  return word.numbered !== undefined && /^[\d,;$pdq=]+$/.test(word.numbered) ? exactWord("1p") : word;
}

/** `texts`: the commands `a`, `i` and `c` count as well, whose text goes to the end of the line. */
export type SedTexts = { readonly texts?: boolean };

/** Addresses and commands that only print or change what is printed: no `e`, `w`, `r`, nor their flags of `s`. */
export function isHarmlessSed(script: string, { texts = false }: SedTexts = {}): boolean {
  if (hasSplitBrackets(script)) return false;
  let at = 0;
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(script);
    if (found) at = pattern.lastIndex;
    return found !== null;
  };
  while (at < script.length) {
    if (match(/[\s;{}]+/y)) continue;
    match(/(?:\d+(?:~\d+)?|\$|\/(?:\\.|[^/\\\n])*\/I?)(?:\s*,\s*(?:[+~]?\d+|\$|\/(?:\\.|[^/\\\n])*\/I?))?\s*/y);
    match(/!\s*/y);
    if (match(/[pdDPgGhHxnNlzF=]/y)) continue;
    if (match(/[qQ]\s*\d*/y)) continue;
    if (match(/[:btT]\s*\w*/y)) continue;
    if (match(/\{/y)) continue;
    if (texts && match(/[aic](?:\\[\s\S]|[^\\\n])*(?=\n|$)/y)) continue;
    if (match(/s([/|,#@:!~%])(?:\\[\s\S]|(?!\1)[^\\\n])*\1(?:\\[\s\S]|(?!\1)[^\\\n])*\1[gpiI\d]*(?=[\s;}]|$)/y)) continue;
    if (match(/y([/|,#@:])(?:\\.|(?!\1)[^\\\n])*\1(?:\\.|(?!\1)[^\\\n])*\1(?=[\s;}]|$)/y)) continue;
    return false;
  }
  return true;
}

/** A delimiter in brackets ends a pattern for some versions of sed and not for others. */
function hasSplitBrackets(script: string): boolean {
  const plain = script.replace(/\\[\s\S]/g, "");
  const delimiters = new Set([...plain.matchAll(/[sy]([/|,#@:!~%])/g)].map(([, delimiter = "/"]) => delimiter));
  if (/(?:^|[\s;,{}!\d$])\//.test(plain)) delimiters.add("/"); // an address
  return [...plain.matchAll(/\[\^?\]?((?:\[[:.=].*?[:.=]\]|[^\]])*)(?:\]|$)/g)].some(([, inside = ""]) =>
    [...inside].some((letter) => delimiters.has(letter)),
  );
}

/** `awk` whose program neither runs, writes, reads elsewhere nor shows the environment. */
export function readAwk(words: Words): Looking | undefined {
  const options = readLooking(words, awkRow);
  const [program, ...files] = options?.operands ?? [];
  return isPlain(program) && isHarmlessAwk(program.text) ? { ...nothing, reads: files } : undefined;
}

/** Nothing of it may run a program: its own program is written out, and behind that stand files, which bash may have to find. */
export function isWrittenAwk(words: Words): boolean {
  const program = readLooking(words, awkRow)?.operands[0];
  const files = program ? words.slice(words.indexOf(program) + 1) : [];
  const isFile = (word: ShellWord): boolean => files.includes(word) && (word.kind === "glob" || word.kind === "below");
  return words.every((word) => isFile(word) || (isPlain(word) && !/system|getline|[|@]/.test(word.text)));
}

/** `jq` whose filter names neither modules nor the environment. */
export function readJq(words: Words): Looking | undefined {
  const plain: ShellWord[] = [];
  const files: ShellWord[] = [];
  let next = 0;
  for (const [at, word] of words.entries()) {
    if (at < next) continue;
    const [, option] = (isPlain(word) && /^--(arg|argjson|rawfile|slurpfile)$/.exec(word.text)) || [];
    const value = words[at + 2];
    if (option?.endsWith("file")) {
      if (!value) return undefined;
      files.push(value);
    }
    if (option === undefined) plain.push(word);
    else next = at + 3;
  }
  const options = readLooking(plain, jqRow);
  const [filter, ...rest] = options?.operands ?? [];
  return isPlain(filter) && isHarmlessJq(filter.text) ? { ...nothing, reads: [...files, ...rest] } : undefined;
}

/** `yq` whose expression reads nothing but its files; there are two programs of that name. */
export function readYq(words: Words): Looking | undefined {
  const options = readLooking(words, yqRow);
  const operands = options?.operands ?? [];
  const [first] = operands;
  const isNamed = isPlain(first) && /^(?:e|eval|ea|eval-all)$/.test(first.text);
  const [expression, ...files] = isNamed ? operands.slice(1) : operands;
  // One of them starts `jq`.
  return isPlain(expression) && isHarmlessYq(expression.text) ? { ...nothing, reads: files, starts: true } : undefined;
}

const findFlags = new Set(
  (
    "-print -print0 -ls -empty -prune -quit -depth -d -mount -xdev -a -and -o -or -not ! ( ) , -true -false -readable -writable " +
    "-executable -daystart -follow -nouser -nogroup -noleaf -H -L -P -E -x -s -X"
  ).split(" "),
);

/** `find` that only lists; what `-exec` runs is judged for itself. */
export function readFind(words: Words): Looking | undefined {
  const reads: ShellWord[] = [];
  const starts: ShellWord[] = [];
  const texts = words.map(({ text }) => text);
  let expression = false;
  let next = 0;
  for (const [at, word] of words.entries()) {
    if (at < next) continue;
    const { text } = word;
    if (isPlain(word) && (/^[-(!,]/.test(text) || text === ")")) {
      expression ||= !/^-[HLPEXxs]$/.test(text);
      if (runsProgram(text)) next = endOfProgram(texts, at) + 1;
      else if (takesValue(text)) {
        next = at + 2;
        const value = words[at + 1];
        if (!value || value.splits || (value.kind === "glob" && !/\.\w+$/.test(value.text))) return undefined;
        if (comparesFile(text)) reads.push(value);
      } else if (!findFlags.has(text)) return undefined;
      continue;
    }
    if (expression || mayBeOption(word)) return undefined;
    starts.push(word);
  }
  const follows = words.some((word) => isPlain(word) && /^-(?:[LH]|follow)$/.test(word.text));
  if (!follows) return { ...nothing, reads: [...reads, ...starts] };
  const needs = { links: true, names: false };
  const below = (starts.length > 0 ? starts : [exactWord(".")]).map((word) =>
    isPlain(word) ? { ...word, kind: "below" as const, needs } : word,
  );
  return { ...nothing, reads: [...reads, ...below] };
}

function isFormat(word: ShellWord | undefined): boolean {
  return isPlain(word) && !word.text.startsWith("-") && !/%[^%a-zA-Z]*n/.test(word.text.replaceAll("%%", ""));
}

/** `printf` without `-v` and `%n`, which set variables by computed names. */
export function readPrintf(words: Words): Looking | undefined {
  const format = words[0]?.text === "--" ? words[1] : words[0];
  // In the place of a pattern there may be any of the names behind it.
  const formats = isPlain(format) && /[*?[]/.test(format.text) ? words : [format];
  return formats.every(isFormat) ? nothing : undefined;
}

const binaryTests = /^(?:=|==|!=|<|>|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef|-a|-o|\]|\))$/;

/** `test` and `[`: `-v` and `-R` evaluate subscripts, and a word that is not known could be one of them. */
export function readTest(words: Words): Looking | undefined {
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if (isPlain(word)) {
      if (/^-[vR]$/.test(word.text) && next && !(isPlain(next) && /^\w+$/.test(next.text))) return undefined;
      continue;
    }
    if (word.splits || word.kind === "glob") return undefined;
    if (next && !(isPlain(next) && binaryTests.test(next.text))) return undefined;
  }
  const reads = words.filter((_, index) => isFileTested(words, index));
  return reads.length === 0 ? nothing : { ...nothing, reads, names: true };
}

/** `-a` is also the word between two conditions. */
function isFileTested(words: Words, index: number): boolean {
  const textAt = (at: number): string => `${words[at]?.text}`;
  if (textAt(index) === "]" && index === words.length - 1) return false;
  const before = textAt(index - 1);
  const isUnary = asksAboutFile(before) && (before !== "-a" || index === 1 || /^[!(]$/.test(textAt(index - 2)));
  return isUnary || comparesFiles(before) || comparesFiles(textAt(index + 1));
}
