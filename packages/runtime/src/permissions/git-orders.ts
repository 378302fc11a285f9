import { splitGit } from "./git-commands.ts";
import { gitRow, gitRowOf } from "./git-rows.ts";
import { type GivenOption, readWords } from "./option-grammar.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

type Words = readonly ShellWord[];

/** Why git may run what its words do not say: by an alias, or by a setting that it is given. */
export function gitOrder(words: Words): string | undefined {
  const call = splitGit(words.slice(1));
  if (!call || call.subcommand === "") return undefined; // the reader of programs has told
  const { subcommand, rest } = call;
  const start = words.length - rest.length;
  const global = readWords(gitRow, words.slice(1, start)).options.find(({ name }) => /^--(?:exec-path|config-env)$/.test(name));
  if (global?.value) return `git ${global.name} can make it do something else`;
  const row = gitRowOf(subcommand);
  if (!row) return builtins.has(subcommand) ? undefined : `git ${subcommand} runs programs, or may be an alias`;
  if (subcommand === "config") return configOrder(rest);
  const told = readWords(row, rest).options.find(isTold);
  if (told) return `git ${subcommand} ${told.name} can run something else`;
  const transport = rest.find((word) => /^[\w+-]+::/.test(word.text));
  return transport && `${transport.text} is a transport that runs programs`;
}

function isTold({ effect, value }: GivenOption): boolean {
  return value !== undefined && (effect === "runs" || effect === "configures");
}

/** Commands of git's own, or of a program that comes with its name, which no alias can replace. They run nothing that they are told. */
const builtins: ReadonlySet<string> = new Set(
  (
    "help bundle cherry check-ref-format column commit-graph commit-tree fast-export fast-import index-pack interpret-trailers lfs mailinfo " +
    "maintenance mktag mktree multi-pack-index pack-objects pack-refs prune-packed read-tree replace request-pull rerere stripspace " +
    "unpack-objects update-index update-ref update-server-info var verify-pack write-tree checkout-index ls-files"
  ).split(" "),
);

/** Settings by which git does its own work in another way, and starts nothing. */
function configOrder(rest: Words): string | undefined {
  const isOption = ({ text }: ShellWord): boolean => text.startsWith("-");
  if (rest.some((word) => /^(?:-l|--list|--get.*)$/.test(word.text))) return undefined;
  const [first, ...others] = rest.filter((word) => !isOption(word));
  const [key = first] = first && /^(?:set|get|list|unset|edit)$/.test(first.text) ? others : [first];
  const takesFile = rest.some((word) => /^(?:-f|--file|--blob|-e|--edit)(?:=|$)/.test(word.text));
  const isKnown = isPlain(key) && (quietSettings.test(key.text) || /^(?:get|list)$/.test(`${first?.text}`));
  return isKnown && !takesFile ? undefined : "git config can make git run programs";
}

const quietSettings =
  /^(?:user\.(?:name|email|signingkey|useconfigonly)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.(?:prune|parallel)|color\.[\w.]+|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath|longpaths|symlinks|safecrlf|precomposeunicode|bare)|branch\.[^=]+\.(?:remote|merge|rebase)|commit\.gpgsign|tag\.(?:gpgsign|sort)|rebase\.(?:autostash|autosquash)|merge\.(?:ff|conflictstyle)|diff\.(?:algorithm|renames|colormoved)|advice\.\w+|rerere\.enabled|safe\.directory|http\.postbuffer|(?:status|log|column)\.\w+)$/i;
