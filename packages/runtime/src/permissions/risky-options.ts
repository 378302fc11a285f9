import { gitRisk } from "./git-commands.ts";
import { isHarmlessSed, readPrintf, readTest } from "./read-only-scripts.ts";
import type { Program } from "./shell.ts";
import { isPlain, mayBeOption, type ShellWord } from "./shell-words.ts";

/** Options by which a program that people allow as a whole runs or writes something else. Long ones may be shortened by the caller. */
const risky: Readonly<Record<string, string>> = {
  rg: "--pre --hostname-bin",
  sort: "--compress-program -o --output -T --temporary-directory",
  tar: "--checkpoint-action --to-command --use-compress-program -I --rsh-command --info-script --new-volume-script -F --use-compress-prog",
  find: "-delete -fprint -fprintf -fprint0 -fls",
  fd: "-x -X --exec --exec-batch",
  man: "--html -H -P --pager -C --config-file -B --browser",
  less: "-o -O --log-file -k --lesskey-file +",
  more: "+",
  date: "-s --set -f --file",
  tree: "-o --output -R",
  gcc: "-wrapper -fplugin -B -specs @",
  "g++": "-wrapper -fplugin -B -specs @",
  cc: "-wrapper -fplugin -B -specs @",
  "c++": "-wrapper -fplugin -B -specs @",
  clang: "-fplugin -Xclang -load -B @",
  ssh: "-o -F -J -S -W -E -L -R -D -M -w",
  scp: "-o -F -S -J -D",
  sftp: "-o -F -S -J -D -b",
  rsync: "-e --rsh --rsync-path --log-file --config",
  kubectl: "--kubeconfig --as --token --server -s --exec",
  helm: "--kubeconfig --post-renderer",
  curl: "-K --config -o -O --output --remote-name --output-dir -T --upload-file --unix-socket -c --cookie-jar -D --dump-header --trace --engine",
  wget: "-O --output-document -e --execute --use-askpass --post-file --body-file -P --directory-prefix -i --input-file --config -o -a",
  make: "--eval -f --file --makefile SHELL= MAKEFLAGS= CC=",
  npm: "--script-shell --node-options --prefix --userconfig --globalconfig --call -c",
  pnpm: "--script-shell --node-options --config-dir --shell-mode -c",
  yarn: "--use-yarnrc --script-shell --cwd",
  go: "-exec -toolexec -overlay -modfile",
  cargo: "--config --manifest-path -Z",
  pytest: "-p -c --rootdir --confcutdir -o --override-ini",
  zip: "-TT --unzip-command -T",
  tcpdump: "-z -w",
  ffmpeg: "-f -filter_script",
  eslint: "--rulesdir --resolve-plugins-relative-to -c --config --plugin --parser",
  terraform: "-chdir -plugin-dir",
  psql: "-c --command -f --file -o --output",
  sqlite3: "-cmd -init",
  mysql: "-e --execute --init-command",
  docker: "-H --host -c --context --config",
};

/**
 * Why a rule with a wildcard does not cover this call although its words fit; undefined when it does.
 * Words before `from` were written out in the rule and are what its author wanted.
 */
export function riskOf(program: Program, from: number): string | undefined {
  const { name, words } = program;
  const rest = words.slice(Math.max(from, 1));
  switch (name) {
    case "git":
      return gitRisk(words, from);
    case "test":
    case "[":
      return readTest(words.slice(1)) ? undefined : `${name} may evaluate a word`;
    case "printf":
      return readPrintf(words.slice(1)) ? undefined : "printf may evaluate a word";
    case "sed":
      return sedRisk(rest);
    case "export":
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
    case "read":
    case "unset":
    case "wait":
    case "getopts":
      return rest.some((word) => word.text.includes("[") || word.kind !== "exact" || /^-.*[in]/.test(word.text))
        ? `${name} may evaluate a word`
        : undefined;
  }
  const options = Object.hasOwn(risky, name) ? risky[name]?.split(" ") : undefined;
  if (!options) return undefined;
  for (const word of rest) {
    if (isPlain(word) && word.text === "--") break;
    if (word.kind !== "exact") {
      if (mayBeOption(word)) return `an option of ${name} is not written out`;
      continue;
    }
    const hit = options.find((option) => isOption(word.text, option));
    if (hit) return `${name} ${word.text.replace(/=.*/s, "")} can run or write something else`;
  }
  return undefined;
}

function isOption(text: string, option: string): boolean {
  if (option.endsWith("=")) return text.startsWith(option);
  if (option === "@" || option === "+") return text.startsWith(option) && text.length > 1;
  const name = text.replace(/=.*/s, "");
  if (option.startsWith("--")) return name.length >= 4 && name.startsWith("--") && option.startsWith(name);
  if (option.length > 2) return name === option;
  return text.startsWith(option) && !text.startsWith("--");
}

function sedRisk(words: readonly ShellWord[]): string | undefined {
  const script = words.find((word) => !isPlain(word) || !word.text.startsWith("-"));
  for (const [index, word] of words.entries()) {
    const given = isPlain(words[index - 1]) && /^(?:-[nErsuz]*e|--expression)$/.test(words[index - 1]?.text ?? "");
    const glued = /^--expression=(.*)/s.exec(word.text)?.[1];
    if (isPlain(word) && /^(?:-[nErsuz]*f|--file)/.test(word.text)) return "sed takes its script from a file";
    const code = glued ?? (given || word === script ? word.text : undefined);
    if (code !== undefined && (word.kind !== "exact" || !isHarmlessSed(code)))
      return "the script of sed may run or write something";
  }
  return undefined;
}
