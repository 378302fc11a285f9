import { isFileAddress, pathOfAddress } from "./file-addresses.ts";
import { fromFolders, splitGit } from "./git-commands.ts";
import { pathspecNames } from "./git-pathspecs.ts";
import { isInterpreter } from "./interpreters.ts";
import { isOnlyRuled } from "./program-table.ts";
import { isBuiltin } from "./shell-builtins.ts";
import type { Program } from "./parsed-command.ts";
import type { ShellWord } from "./shell-words.ts";

/** Runs a program and writes down what it does. */
export function isTracer(name: string): boolean {
  return /^(?:strace|ltrace|script|perf|valgrind)$/.test(name);
}

/** Their rows tell the options that matter; any other word may be a file that they write. */
export function takesAnyWord(name: string): boolean {
  return (
    (isOnlyRuled(name) && !/^(?:bat|pr|zcat)$/.test(name)) ||
    /^(?:npm|pnpm|yarn|ffmpeg|eslint|terraform|helm|kubectl|docker|psql|mysql|man|sftp)$/.test(name)
  );
}

/** What their words name is elsewhere, or code: they run anything. Those that build are told where the system keeps things. */
export function keepsItsPlace({ name, words }: Pick<Program, "name" | "words">): boolean {
  return (
    (isInterpreter(name) && !isTracer(name)) ||
    /^(?:docker|podman|kubectl|adb|cmake|ctest|ninja|meson|mvn|gradle)$/.test(name) ||
    (name === "gh" && words[1]?.text === "api") ||
    isBuiltin(name)
  );
}

/** What is left of `https://host` behind the colon. */
export function isAddress({ text }: ShellWord): boolean {
  return text.startsWith("//");
}

/** What the words of a program may name. Git sees those behind its subcommand from the folder that it is led to. */
export function namesOfProgram({ name, words }: Pick<Program, "name" | "words">): ShellWord[] {
  const rest = words.slice(1);
  const call = name === "git" ? splitGit(rest) : undefined;
  if (!call) return rest.flatMap(namesIn);
  const before = rest.slice(0, rest.length - call.rest.length).flatMap(namesIn);
  const behind = call.rest.flatMap((word) => [word, ...namesIn(word)]);
  return [
    ...before.flatMap((word) => [word, fromFolders(call.folders, word)]),
    ...behind.flatMap((word) => pathspecNames(call, word)),
  ];
}

/** The parts of a word that may be names of files: `--file=x`, `-fx`, `@x`, `HEAD:x`, `f=@x;type=y`, `file:%78`. */
export function namesIn(word: ShellWord): ShellWord[] {
  if (word.kind === "open") return [];
  const { text } = word;
  const starts = [...text.matchAll(/[=@:<,]/g)].slice(0, 16).map(({ index }) => text.slice(index + 1));
  const parts = [
    ...starts,
    ...starts.map((part) => part.replace(/[;,].*/s, "")),
    text.replace(/^-\w/, ""),
    text.replace(/^-\w+(?=[./~])/, ""),
  ];
  const meant = [text, ...parts].flatMap((part) => (isFileAddress(part) ? (pathOfAddress(part) ?? []) : []));
  const names = new Set([...parts, ...meant].filter((part) => part !== "" && part !== text));
  return [word, ...[...names].map((part) => ({ ...word, text: part, tilde: part.startsWith("~/") }))];
}
