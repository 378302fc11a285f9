import { fromFolders, type GitCall } from "./git-commands.ts";
import { type ShellWord, unknownWord } from "./shell-words.ts";

/**
 * The files that git may take a word behind its subcommand for: seen from the folders that `-C` and `--work-tree` lead to, without the
 * signs in front that say how it is meant. Git itself replaces patterns in it.
 */
export function pathspecNames(call: Pick<GitCall, "folders" | "workTree">, word: ShellWord): ShellWord[] {
  const { text, from } = takeApart(word);
  if (from === "nowhere") return [];
  const chains = call.workTree ? [call.folders, [...call.folders, call.workTree]] : [call.folders];
  const tops = from === "top" ? climbs : [""];
  return chains.flatMap((chain) => tops.map((climb) => asPattern(fromFolders(chain, { ...word, text: climb + text }))));
}

/** The same, where it counts which of them it is: what starts at the top of a repository may be anywhere. */
export function pathspecFiles(call: Pick<GitCall, "folders" | "workTree">, word: ShellWord): ShellWord[] {
  return takeApart(word).from === "top" ? [unknownWord] : pathspecNames(call, word);
}

/** The top of a repository is the folder git is in, or one above. */
const climbs: readonly string[] = Array.from({ length: 12 }, (_, levels) => "../".repeat(levels));

type Pathspec = { readonly text: string; readonly from: "here" | "top" | "nowhere" };

/** `:(top,icase)x`, `:/x` and `:!x`; a file that is left out is not touched. In rules, capitals count as small letters anyway. */
function takeApart({ text }: ShellWord): Pathspec {
  const long = /^:\(([^)]*)\)(.*)$/s.exec(text);
  const [, signs = "", rest = text] = (long ?? /^:([!^/]*):?(.*)$/s.exec(text)) || [];
  const magic = long ? signs.split(",") : [...signs];
  const has = (...names: string[]): boolean => names.some((name) => magic.includes(name));
  return { text: rest, from: has("!", "^", "exclude") ? "nowhere" : has("/", "top") ? "top" : "here" };
}

function asPattern(word: ShellWord): ShellWord {
  return word.kind === "exact" && /[*?[]/.test(word.text) ? { ...word, kind: "glob" } : word;
}
