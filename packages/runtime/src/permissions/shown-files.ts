import { shownByGit } from "./shown-by-git.ts";
import type { Program } from "./parsed-command.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/**
 * The files whose content a program may show or copy: `nothing` but names and facts, the files it `named`, those and all that is `below`
 * them (`stored`: once, as git keeps it), or `unknown` ones. Absent: nothing is known about the program, which is no reader of files that it is told to read.
 */
export type Shown =
  | { readonly type: "nothing" }
  | { readonly type: "named" }
  | { readonly type: "below"; readonly reads?: readonly ShellWord[]; readonly stored?: true }
  | { readonly type: "unknown"; readonly why: string };

export const shownUnknown = (why: string): Shown => ({ type: "unknown", why });

/** Built from lists: where rules protect files from being read, only what stands here is known not to show them. */
export function shownBy({ name, words }: Program): Shown | undefined {
  if (name === "git") return shownByGit(words.slice(1));
  if (listers.has(name)) return { type: "nothing" };
  if (named.has(name)) return { type: "named" };
  if (searchers.has(name)) return words.some(mayRecurse) ? { type: "below" } : { type: "named" };
  if (folderReaders.has(name)) return { type: "below" };
  if (copiers.has(name)) return words.some(mayCopyFolders) || name === "mv" ? { type: "below" } : { type: "named" };
  if (archivers.has(name))
    return words.some(takesNamesElsewhere) ? shownUnknown(`what ${name} reads is not written out`) : { type: "below" };
  return undefined;
}

const list = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Show names, sizes, texts of their own; a file's content never. */
const listers = list(
  `: true false echo printf pwd exit return break continue shift wait sleep seq dirs type command which whereis basename dirname realpath
  readlink ls stat df du find fd tree test [ date export readonly local declare typeset unset read set shopt cd mkdir touch rm rmdir chmod ps
  uname whoami id groups nproc hostname uptime arch tty free getconf cal times tr let trap time timeout nice nohup setsid stdbuf env xargs`,
);

/** Show what is in the files that they are given, never what is in a folder. */
const named = list(
  `cat head tail tac nl rev wc file cut sort uniq paste join comm cmp column fold fmt expand unexpand strings od hexdump xxd base64 base32
  md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum sed awk gawk mawk nawk jq tee less more pr iconv zcat bzcat
  xzcat zstdcat hd split csplit tsort truncate bat batcat dd`,
);

/** Tells numbers and kinds, never words: it does not matter much which file that is about. */
export function tellsFacts(name: string): boolean {
  return facts.has(name);
}

const facts = list("wc ls stat du df file realpath readlink basename dirname test [");

const searchers = list("grep egrep fgrep zgrep bzgrep xzgrep");
/** Given a folder, they show what is in it. ripgrep has settings and ignore files of its own that make it look at hidden files. */
const folderReaders = list("diff rg ag ack ugrep rgrep sdiff colordiff");
const copiers = list("cp mv install");
const archivers = list("tar bsdtar zip 7z 7za 7zr rar cpio pax ar rsync scp sftp gzip bzip2 xz zstd rclone zipfile tarfile");

/** `-d recurse` recurses as much as `-r` does. A letter may stand in a cluster or be part of a value: both count. */
function mayRecurse({ text, kind, splits }: ShellWord): boolean {
  return /^-[^-]*[rRd]|^--(?:r|de|di)/.test(text) || (kind === "open" && (splits || text === ""));
}

function mayCopyFolders({ text }: ShellWord): boolean {
  return /^-[^-]*[rRa]|^--(?:r|a)/.test(text);
}

/** Lists of names, other folders to start from, and words that are read from files. */
function takesNamesElsewhere(word: ShellWord): boolean {
  if (!isPlain(word)) return word.kind === "open";
  return /^-[^-]*[CTo@i]|^--(?:di|files|fi|from|arg|inc|exc)|^@|^-$/.test(word.text);
}
