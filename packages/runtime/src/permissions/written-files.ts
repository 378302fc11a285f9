import { fileOfAddress } from "./file-addresses.ts";
import { fromFolders, type GitCall, splitGit } from "./git-commands.ts";
import { pathspecFiles } from "./git-pathspecs.ts";
import { gitRowOf } from "./git-rows.ts";
import { type GivenOption, readWords, type Row } from "./option-grammar.ts";
import { ruleRowOf } from "./program-table.ts";
import type { Program } from "./parsed-command.ts";
import { isPlain, type ShellWord, unknownWord } from "./shell-words.ts";

type Words = readonly ShellWord[];

/** Files that the words of a program name, by what happens to them. */
export type NamedFiles = { readonly reads: Words; readonly writes: Words };

/** By the grammar of the program; undefined for a program that has none, whose words may be anything. */
export function filesNamedBy({ name, words }: Pick<Program, "name" | "words">): NamedFiles | undefined {
  if (name === "git") return filesOfGit(words.slice(1));
  const row = ruleRowOf(name);
  return row && filesOfRow(name, row, words.slice(1));
}

function filesOfRow(name: string, row: Row, words: Words): NamedFiles {
  const { options, operands: given } = readWords(row, words);
  const operands = given.map(({ word }) => word);
  const valuesOf = (effect: GivenOption["effect"]): Words =>
    options.flatMap((option) => (option.effect === effect && option.value ? fileIn(name, option.name, option.value) : []));
  const reads = [...valuesOf("reads"), ...valuesOf("lists"), ...(name === "fd" ? valuesOf("moves") : [])];
  const writes = [...valuesOf("writes"), ...(name === "tar" || name === "patch" ? valuesOf("moves") : [])];
  const has = (...names: string[]): boolean => options.some((option) => names.includes(option.name));
  switch (name) {
    case "sed":
    case "yq": {
      const files = has("-e", "--expression", "-f", "--file") ? operands : behind(operands, 1);
      if (!has("-i", "--in-place", "--inplace")) return { reads: [...reads, ...files], writes };
      const suffixes = options.flatMap((option) =>
        /^(?:-i|--in-place)$/.test(option.name) && option.value ? [option.value] : [],
      );
      const kept = suffixes.flatMap(({ text }) => files.map((word) => ({ ...word, text: word.text + text })));
      return { reads, writes: [...files, ...kept] };
    }
    case "tar": {
      const archives = options.flatMap((option) =>
        option.value && /^(?:-f|--file)$/.test(option.name) ? fileIn(name, option.name, option.value) : [],
      );
      const others = writes.filter((word) => !archives.some(({ text }) => text === word.text));
      const isWritten = has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--concatenate", "--delete");
      if (!isWritten) return { reads: [...reads, ...archives], writes: others };
      return { reads: [...reads, ...operands], writes: has("--remove-files") ? [...writes, ...operands] : writes };
    }
    case "zip":
      // It stores what links lead to, unless it is told not to, and `-m` removes what it has stored.
      return {
        reads: [...reads, ...operands.slice(1).map((word) => (has("-y", "--symlinks") ? word : throughLinks(word)))],
        writes: [...writes, ...(has("-m", "--move") ? operands : operands.slice(0, 1))],
      };
    case "unzip":
    case "7z":
      return { reads: [...reads, ...operands.slice(0, 1)], writes };
    case "chmod":
    case "chown":
    case "chgrp":
      return { reads, writes: [...writes, ...(has("--reference") ? operands : behind(operands, 1))] };
    case "sqlite3":
      return {
        reads,
        writes: [
          ...writes,
          ...operands
            .slice(0, 1)
            .map(fileOfAddress)
            .filter((word) => word.text !== ":memory:"),
        ],
      };
    case "uniq":
    case "xxd":
      return { reads: [...reads, ...operands.slice(0, 1)], writes: [...writes, ...behind(operands, 1)] };
    case "dd":
      return { reads, writes: [...writes, ...operands.filter((word) => word.splits)] };
    case "tee":
      return { reads, writes: [...writes, ...operands] };
  }
  switch (row.operands) {
    case "reads":
    case "reads one":
      return { reads: [...reads, ...operands], writes };
    case "reads folders":
      return { reads: [...reads, ...operands].map((word) => ({ ...word, needs: { links: true, names: false } })), writes };
    case "pattern reads": {
      const isGiven = has("-e", "-f", "--regexp", "--file", "--from-file", "--files");
      return { reads: [...reads, ...(isGiven ? operands : operands.slice(1))], writes };
    }
    case "writes":
      return { reads, writes: [...writes, ...operands] };
    case "copies":
      return copied(name, {
        operands,
        reads,
        writes,
        isInto: has("-t", "--target-directory"),
        // Another hard link is another name for the same file.
        isSame: name === "mv" || (name === "ln" && !has("-s", "--symbolic")) || (name === "cp" && has("-l", "--link")),
        isWhole: has("--parents", "-R", "--relative") && name !== "mv",
        makesFolders: has("-d", "--directory"),
      });
    default:
      return { reads, writes };
  }
}

/** Operands from this one on. One without quotes may become several. */
function behind(operands: Words, from: number): Words {
  return operands.filter((word, index) => index >= from || word.splits);
}

function throughLinks(word: ShellWord): ShellWord {
  return word.kind === "exact" ? { ...word, kind: "below", needs: { links: true, names: false } } : word;
}

type Copying = {
  readonly operands: Words;
  readonly reads: Words;
  readonly writes: Words;
  readonly isInto: boolean;
  readonly makesFolders: boolean;
  readonly isSame: boolean;
  readonly isWhole: boolean;
};

/** Into a folder, the names of the sources count. */
function copied(name: string, { operands, reads, writes, isInto, makesFolders, isSame, isWhole }: Copying): NamedFiles {
  if (name === "install" && makesFolders) return { reads, writes: [...writes, ...operands] };
  const local = operands.filter((word) => !/^[\w.@-]+:/.test(word.text));
  const target = isInto ? writes.at(-1) : operands.length > 1 ? operands.at(-1) : undefined;
  const sources = local.filter((word) => word !== target);
  const inFolder =
    target && local.concat(writes).includes(target)
      ? sources.flatMap((source) => [below(target, source), ...(isWhole ? [below(target, source, source.text)] : [])])
      : [];
  return {
    reads: [...reads, ...sources],
    writes: [...writes, ...(target && local.includes(target) ? [target] : []), ...inFolder, ...(isSame ? sources : [])],
  };
}

function below(folder: ShellWord, source: ShellWord, path?: string): ShellWord {
  const name = path ?? source.text.replace(/\/+$/, "").replace(/.*\//s, "");
  return { ...folder, kind: source.kind === "exact" ? folder.kind : "open", text: `${folder.text}/${name}` };
}

/** For most options the value is a file; for some of curl only behind a sign. Bash replaces `~` behind `=` as well. */
function fileIn(name: string, option: string, value: ShellWord): Words {
  const file = (text: string): Words => (text === "-" ? [] : [{ ...value, text, tilde: text.startsWith("~") }]);
  if (name !== "curl" || !signed.test(option)) return file(value.text);
  if (/^(?:-F|--form)$/.test(option)) return formFiles(value.text).flatMap(file);
  if (/^--(?:data-urlencode|url-query|variable)$/.test(option)) {
    const named = /^[^=@]*@(.*)$/s.exec(value.text)?.[1];
    return named === undefined ? [] : file(named);
  }
  if (/^(?:-b|--cookie)$/.test(option)) return value.text.includes("=") || value.kind === "open" ? [] : file(value.text);
  const path = /^(?:[^@<=]*=)?[@<](.*?)(?:;.*)?$/s.exec(value.text)?.[1];
  return path === undefined ? [] : file(path);
}

const signed = /^(?:-[bdFHw]|--(?:cookie|data\S*|json|form\S*|header|proxy-header|url|url-query|variable|write-out))$/;

/** `x=@a,b;type=t;headers=@c`: behind a sign, every part may be a file. */
function formFiles(text: string): string[] {
  const value = text.slice(text.indexOf("=") + 1);
  if (!/[@<]/.test(value)) return [];
  return value.split(/[;,]/).flatMap((part) => part.replace(/^\s*(?:headers=)?[@<"]*/, "").replace(/"\s*$/, "") || []);
}

function filesOfGit(words: Words): NamedFiles {
  const call = splitGit(words);
  const folders = call?.folders ?? [];
  const { reads, writes } = call ? filesOfCall(call) : { reads: [], writes: [] };
  const there = (word: ShellWord): ShellWord => fromFolders(folders, word);
  const visited = folders.map((folder, at) => fromFolders(folders.slice(0, at), folder));
  return { reads: [...visited, ...reads.map(there)], writes: writes.map(there) };
}

/** Its words, as seen from where it works. */
function filesOfCall(call: GitCall): NamedFiles {
  const row = gitRowOf(call.subcommand);
  if (!row) return { reads: [], writes: [] };
  const { options, operands: given } = readWords(row, call.rest);
  const all = given.map(({ word }) => word);
  // On all of the project is what git works anyway.
  const operands = all.filter((word) => !/^(?:\.\/?|:\/)$/.test(word.text));
  const reads = options.flatMap(({ effect, value }) => (effect === "reads" && value ? fileIn("git", "", value) : []));
  switch (call.subcommand) {
    case "worktree": {
      const [action = unknownWord, ...folders] = operands;
      return { reads, writes: /^(?:add|move|remove|repair)$/.test(action.text) ? folders : [] };
    }
    case "stash": {
      const [action, ...files] = operands;
      const isPush = call.rest[0] !== action || action?.text === "push";
      const put = call.rest[0] === action ? files : operands;
      return { reads, writes: isPush ? put.flatMap((word) => pathspecFiles({ ...call, folders: [] }, word)) : [] };
    }
    case "clone": {
      const [named, target = named && cloneFolder(named)] = all;
      const source = named && fileOfAddress(named);
      const isLocal = source !== undefined && !/^(?:[a-z+]+:\/\/|[\w.-]+@|[\w.-]+:)/i.test(source.text);
      return { reads: [...reads, ...(isLocal ? [source] : [])], writes: target ? [target] : [] };
    }
  }
  const files = operands.filter(mayBeFile).flatMap((word) => pathspecFiles({ ...call, folders: [] }, word));
  if (row.operands === "reads") return { reads: [...reads, ...files], writes: [] };
  return { reads, writes: row.operands === "writes" ? files : [] };
}

/** Where git clones to when it is not told. */
function cloneFolder(source: ShellWord): ShellWord | undefined {
  const text = source.text
    .replace(/\/+$/, "")
    .replace(/\/+\.git$/, "")
    .replace(/.*[/:]/s, "")
    .replace(/\.(?:git|bundle)$/, "");
  return /^\.{0,2}$/.test(text) ? undefined : { ...source, text, tilde: false };
}

/** Names of commits are names of files that do not exist. What is not written out has been asked about as an option. */
function mayBeFile(word: ShellWord): boolean {
  return word.kind !== "open" && !/^[^/]*\.\.\.?[^/]*$/.test(word.text.replace(/^\.\.(?=\/|$)/, "//"));
}

/** Programs that unpack write what is in the archive, wherever that says. In a folder of their own they may. */
export function extractionRisk({ name, words }: Pick<Program, "name" | "words">): string | undefined {
  const row = ruleRowOf(name === "bsdtar" ? "tar" : name);
  const { options, operands } = row ? readWords(row, words.slice(1)) : { options: [], operands: [] };
  const has = (...names: string[]): boolean => options.some((option) => names.includes(option.name));
  const into = (...names: string[]): boolean =>
    options.some(
      ({ name: option, value }) =>
        names.includes(option) && value !== undefined && isPlain(value) && /^(?!\.{0,2}\/*$)/.test(value.text),
    );
  const unknown = `the files that ${name} writes cannot be known`;
  switch (name) {
    case "patch":
      return has("--dry-run") ? undefined : unknown;
    case "tar":
    case "bsdtar": {
      const archive = options.find((option) => option.name === "-f" || option.name === "--file")?.value;
      if (archive && /^[^/]*:/.test(archive.text)) return "tar would reach another machine";
      return has("-x", "--extract", "--get") && !has("-O", "--to-stdout") && !into("-C", "--directory") ? unknown : undefined;
    }
    case "unzip":
      return has("-l", "-v", "-t", "-p", "-c", "-Z", "-Z1") || into("-d") ? undefined : unknown;
    case "7z":
    case "7za":
    case "7zr":
      return /^[ex]/.test(operands[0]?.word.text ?? "x") ? unknown : undefined;
    case "zipfile":
    case "tarfile":
      return words.some((word) => !isPlain(word) || /^(?:-e|--ex)/.test(word.text)) ? unknown : undefined;
    case "cpio":
    case "pax":
    case "ar":
    case "jar":
    case "unrar":
      return words
        .slice(1)
        .some((word) => !isPlain(word) || /^-?[a-zA-Z]*[irx]/.test(word.text) || /^--(?:ex|pass)/.test(word.text))
        ? unknown
        : undefined;
  }
  return undefined;
}
