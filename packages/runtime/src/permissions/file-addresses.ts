import { exactWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** Is it written as an address of a file, like `file:x` or `file:///x`? */
export function isFileAddress(text: string): boolean {
  return /^file:/i.test(text);
}

/** The path that `file:///a%20b?mode=ro` means; undefined for one of another machine, and where it cannot be told. */
export function pathOfAddress(text: string): string | undefined {
  const address = text.replace(/^file:/i, "").replace(/[?#].*/s, "");
  const [, host = "", path = address] = /^\/\/([^/]*)(\/.*)?$/s.exec(address) ?? [];
  if (host !== "" && host.toLowerCase() !== "localhost") return undefined;
  try {
    const decoded = decodeURIComponent(path.replace(/^\/+/, "/"));
    return decoded.includes("\0") || decoded === "" ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** The file that a program opens which takes such addresses. With large letters, not every program takes it for one. */
export function fileOfAddress(word: ShellWord): ShellWord {
  if (!isFileAddress(word.text)) return word;
  const isCertain = (word.kind === "exact" || word.kind === "glob") && word.text.startsWith("file:");
  const path = isCertain ? pathOfAddress(word.text) : undefined;
  return path === undefined || (word.kind === "glob" && /[*?[]/.test(path)) ? unknownWord : exactWord(path);
}
