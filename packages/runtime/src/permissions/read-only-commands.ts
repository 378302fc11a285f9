import { readGit } from "./git-commands.ts";
import { optionSpec, type ReadOptions, readOptions } from "./option-spec.ts";
import { readAwk, readFind, readJq, readPrintf, readSed, readTest } from "./read-only-scripts.ts";
import type { Program } from "./shell.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/** What a program that only looks would touch. */
export type Looking = {
  readonly reads: readonly ShellWord[];
  /** Files it changes: only for those that do nothing but that, such as `mkdir`. */
  readonly writes: readonly ShellWord[];
  /** Reads whole folders with all that is in them. */
  readonly tree: "no" | "all" | "visible";
  /** Where `git` looks for a repository, whose configuration it obeys. */
  readonly repository?: ShellWord;
};

export const looksAtNothing: Looking = { reads: [], writes: [], tree: "no" };

/** How operands are read: file names, plain text, a pattern and then files, or at most one file. */
type Operands = "files" | "text" | "pattern" | "one" | "none";

type Line = readonly [options: string, operands: Operands, tree?: (options: ReadOptions) => boolean];

const always = (): boolean => true;
const recursive = ({ given }: ReadOptions): boolean => ["-r", "-R", "--recursive"].some((option) => given.has(option));

const checksum: Line = ["-bt --tag --binary --text", "files"];
const grep: Line = [
  "-ivwxclLnHhoqsrREFGPaIUzZbTy -m: -A: -B: -C: -e: -f@ -d: -D: -# --include: --exclude: --exclude-dir: --color? --colour? --recursive " +
    "--line-number --ignore-case --no-ignore-case --files-with-matches --files-without-match --count --only-matching --invert-match " +
    "--word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --no-filename --with-filename --regexp: " +
    "--file@ --max-count: --context: --after-context: --before-context: --no-messages --quiet --silent --text --binary-files: --null --version",
  "pattern",
  recursive,
];
const colorless = "--no-color --color?";

/** Everyday programs that only look, with the options that are known to keep it so. What is not listed here is asked about. */
const lines: Readonly<Record<string, Line>> = {
  ":": ["*", "text"],
  true: ["*", "text"],
  false: ["*", "text"],
  echo: ["*", "text"],
  pwd: ["-LP", "none"],
  exit: ["", "text"],
  return: ["", "text"],
  break: ["", "text"],
  continue: ["", "text"],
  shift: ["", "text"],
  wait: ["", "text"],
  sleep: ["", "text"],
  seq: ["-ws: -f: -w -#", "text"],
  dirs: ["", "none"],
  type: ["-aftpP", "text"],
  command: ["-vVp", "text"],
  which: ["-as --all", "text"],
  whereis: ["-bms", "text"],
  basename: ["-a -z -s: --multiple --suffix:", "text"],
  dirname: ["-z", "text"],
  realpath: ["-emLPqsz --relative-to: --relative-base:", "files"],
  readlink: ["-femnqsvz", "files"],
  cat: ["*", "files"],
  ls: ["*", "files"],
  head: ["*", "files"],
  tail: ["*", "files"],
  tac: ["-br -s:", "files"],
  nl: ["*", "files"],
  rev: ["", "files"],
  wc: ["-cmlLw --lines --words --bytes --chars --max-line-length --total:", "files"],
  stat: ["*", "files"],
  df: ["-hHiklPTam -t: -x: -B: --total --output?", "files"],
  du: [
    "-0abcDhHklLmPsSx -d: -B: --max-depth: --summarize --human-readable --apparent-size --total --all --exclude: -t: --bytes",
    "files",
  ],
  file: ["-bihkLNprsv0 --brief --mime --mime-type --mime-encoding --dereference", "files"],
  cut: [
    "-nsz -b: -c: -d: -f: --complement --delimiter: --fields: --bytes: --characters: --output-delimiter: --only-delimited",
    "files",
  ],
  tr: ["-cCdst --delete --squeeze-repeats --complement --truncate-set1", "text"],
  sort: [
    "-bdfgiMhnRrVmsuzcC -k: -t: -S: --parallel: --reverse --unique --numeric-sort --human-numeric-sort --version-sort --general-numeric-sort " +
      "--month-sort --key: --field-separator: --stable --ignore-case --ignore-leading-blanks --dictionary-order --check? --merge --zero-terminated",
    "files",
  ],
  uniq: [
    "-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --check-chars: --zero-terminated",
    "one",
  ],
  paste: ["-sz -d: --delimiters: --serial", "files"],
  join: ["-i -1: -2: -t: -a: -e: -o: -v: -j: --header --check-order --nocheck-order", "files"],
  comm: ["-123i --total --check-order --nocheck-order --output-delimiter:", "files"],
  cmp: ["-bls -n: -i: --silent --quiet --verbose --print-bytes", "files"],
  diff: [
    "-ucqrNwbBiysatpde -U: -C: -W: -x: -I: --color? --unified? --context? --brief --recursive --new-file --ignore-all-space --ignore-space-change " +
      "--ignore-blank-lines --ignore-case --side-by-side --suppress-common-lines --exclude: --width: --strip-trailing-cr --minimal --text " +
      "--report-identical-files",
    "files",
    recursive,
  ],
  column: ["-txnen -s: -c: -o: -N: -R: --table --separator: --output-separator:", "files"],
  fold: ["-bs -w: --width: --spaces", "files"],
  fmt: ["-stu -w: --width:", "files"],
  expand: ["-i -t: --tabs:", "files"],
  unexpand: ["-a -t: --tabs:", "files"],
  strings: ["-afo -n: -t: -e: -#", "files"],
  od: ["-abcdfiloxsv -A: -j: -N: -t: -w: -S:", "files"],
  hexdump: ["-bcCdovx -n: -s: -e:", "files"],
  xxd: ["-abeipuE -c: -g: -l: -s: -o:", "one"],
  base64: ["-dDi -w: --decode --wrap: --ignore-garbage", "one"],
  base32: ["-di -w: --decode --wrap:", "one"],
  md5sum: checksum,
  sha1sum: checksum,
  sha224sum: checksum,
  sha256sum: checksum,
  sha384sum: checksum,
  sha512sum: checksum,
  b2sum: checksum,
  cksum: ["", "files"],
  shasum: ["-bt -a:", "files"],
  grep,
  egrep: grep,
  fgrep: grep,
  rg: [
    "-iSsvwxclnNoqFPUua0pHIL. -A: -B: -C: -e: -f@ -g: -t: -T: -m: -M: -j: -r: -d: -E: --files --files-with-matches --files-without-match --hidden " +
      "--no-ignore --no-ignore-vcs --glob: --iglob: --type: --type-not: --type-list --max-count: --max-depth: --count --count-matches --ignore-case " +
      "--smart-case --case-sensitive --fixed-strings --line-number --no-line-number --no-heading --heading --color: --only-matching --multiline " +
      "--multiline-dotall --pcre2 --json --stats --sort: --sortr: --vimgrep --column --no-filename --with-filename --context: --after-context: " +
      "--before-context: --word-regexp --line-regexp --invert-match --trim --null --passthru --replace: --max-columns: --text --no-messages " +
      "--quiet --no-config --max-filesize: --threads: --regexp: --file@ --unrestricted --version --crlf --encoding: --sort-files",
    "pattern",
    always,
  ],
  fd: [
    "-HIisgFaLp01uv -t: -e: -d: -E: -c: --type: --extension: --max-depth: --min-depth: --hidden --no-ignore --exclude: --glob --fixed-strings " +
      "--absolute-path --color: --full-path --ignore-case --case-sensitive --size: --changed-within: --changed-before:",
    "pattern",
  ],
  tree: [
    "-adfishugDFCnlxpvtrcUJXNQq -L: -I: -P: --noreport --gitignore --dirsfirst --filesfirst --prune --du --si --charset: --filelimit: --ignore-case",
    "files",
  ],
  ps: ["-eflAaxujw -p: -u: -o: -C: --pid: --forest --sort: --no-headers", "none"],
  uname: ["*", "none"],
  whoami: ["", "none"],
  id: ["-ugGnr", "text"],
  groups: ["", "text"],
  nproc: ["--all", "none"],
  hostname: ["-fsiI", "none"],
  uptime: ["-ps", "none"],
  arch: ["", "none"],
  tty: ["-s", "none"],
  free: ["-bkmghtwl", "none"],
  getconf: ["", "text"],
  cal: ["-13myj", "text"],
  times: ["", "none"],
  cd: ["-LPe", "files"],
};

/** Programs that do nothing but create or move files: as good as editing those files. */
const fileWriters: Readonly<Record<string, string>> = {
  mkdir: "-pv --parents --verbose",
  touch: "-acm --no-create",
  tee: "-ai --append",
  cp: "-fnpuv --force --no-clobber --preserve --update --verbose",
  mv: "-fnuv --force --no-clobber --update --verbose",
};

const versionTools =
  /^(?:node|nodejs|npm|python[\d.]*|pip3?|git|bash|make|gcc|g\+\+|clang|cc|java|javac|docker|ruby|perl|php|jq|rg|curl|wget|sqlite3)$/;

/** What the program would read and change, when it is certain that it does nothing else. Undefined otherwise. */
export function lookingOf(program: Program): Looking | undefined {
  const { name, words } = program;
  const rest = words.slice(1);
  if (!isSystemName(words[0])) return undefined;
  const only = rest.length === 1 ? rest[0] : undefined;
  if (only && isPlain(only) && /^(?:--version|-v|-V|-version)$/.test(only.text) && versionTools.test(name)) return looksAtNothing;
  switch (name) {
    case "git":
      return readGit(rest);
    case "sed":
      return readSed(rest);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return readAwk(rest);
    case "jq":
      return readJq(rest);
    case "find":
      return readFind(rest);
    case "printf":
      return readPrintf(rest);
    case "test":
    case "[":
      return readTest(rest);
    case "date":
      return readDate(rest);
    case "export":
    case "readonly":
    case "local":
    case "declare":
    case "typeset":
    case "unset":
    case "read":
    case "mapfile":
    case "readarray":
    case "set":
    case "shopt":
      return looksAtNothing; // the parser has seen what they change
  }
  if (Object.hasOwn(fileWriters, name)) return readWriter(name, rest);
  const line = Object.hasOwn(lines, name) ? lines[name] : undefined;
  if (name === "cd" && !(rest.length <= 1 && rest.every((word) => word.kind === "exact" && word.text !== "-"))) return undefined;
  if (name === "command" && !(isPlain(rest[0]) && /^-[vV]$/.test(rest[0].text))) return undefined;
  if (name === "ps" && rest.length === 1 && isPlain(rest[0]) && /^a?u?x?(?:ww)?$/.test(rest[0].text)) return looksAtNothing;
  return readLine(line, rest, !tellsOptions.has(name));
}

/** Some of their options run or write; a pattern could match a file that is named like one. */
const tellsOptions = new Set(["sort", "rg", "fd", "tree", "xxd", "file", "base64", "uniq", "hostname"]);

/** By its bare name, or where the system keeps it: a program of the project may be called `ls` too. */
export function isSystemName(word: ShellWord | undefined): boolean {
  return (
    isPlain(word) &&
    (!word.text.includes("/") || /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/.test(word.text))
  );
}

function readLine(line: Line | undefined, words: readonly ShellWord[], loose: boolean): Looking | undefined {
  if (!line) return undefined;
  const [spec, kind, tree] = line;
  const options = readOptions(words, optionSpec(`${spec} ${spec === "*" ? "" : colorless}`), loose);
  if (!options) return undefined;
  const { operands, files, given } = options;
  const reach = (reads: readonly ShellWord[]): Looking => ({
    ...looksAtNothing,
    reads: [...files, ...reads],
    tree: tree?.(options)
      ? given.has("--hidden") || given.has("-u") || given.has("-.") || tree !== always
        ? "all"
        : "visible"
      : "no",
  });
  switch (kind) {
    case "text":
      return reach([]);
    case "none":
      return operands.length === 0 ? reach([]) : undefined;
    case "one":
      return operands.length <= 1 && !operands[0]?.splits ? reach(operands) : undefined;
    case "files":
      return reach(operands);
    case "pattern": {
      const patternGiven = ["-e", "-f", "--regexp", "--file", "--files", "--type-list"].some((option) => given.has(option));
      const paths = patternGiven || operands[0]?.splits ? operands : operands.slice(1);
      return reach(paths);
    }
  }
}

function readWriter(name: string, words: readonly ShellWord[]): Looking | undefined {
  const options = readOptions(words, optionSpec(fileWriters[name] ?? ""));
  if (!options?.operands.every((word) => word.kind === "exact")) return undefined;
  const { operands } = options;
  if (name !== "cp" && name !== "mv") return { ...looksAtNothing, writes: operands };
  const target = operands.at(-1);
  const sources = operands.slice(0, -1);
  if (!target || sources.length === 0) return undefined;
  // Into a folder, the name of the source counts.
  const inFolder = sources.map((source) => ({
    ...target,
    text: `${target.text}/${source.text.replace(/\/+$/, "").replace(/.*\//s, "")}`,
  }));
  return { ...looksAtNothing, reads: sources, writes: [target, ...inFolder, ...(name === "mv" ? sources : [])] };
}

/** `date` that shows the time: an operand without `+` would set it. */
function readDate(words: readonly ShellWord[]): Looking | undefined {
  const options = readOptions(words, optionSpec(dateOptions));
  return options?.operands.every((word) => isPlain(word) && word.text.startsWith("+")) ? looksAtNothing : undefined;
}

const dateOptions = "-uR -d: -Iseconds -Iminutes -Ihours -Idate -I --utc --universal --date: --iso-8601? --rfc-3339: --rfc-email";
