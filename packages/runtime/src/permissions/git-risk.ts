import { type GitCall, readGit, splitGit } from "./git-commands.ts";
import { gitRow, gitRowOf } from "./git-rows.ts";
import { type GivenOption, readWords } from "./option-grammar.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

type Words = readonly ShellWord[];

/** Why a rule like `Bash(git:*)` does not cover this call: git is told to run or write something else. `from` is where the rule's own words end. */
export function gitRisk(words: Words, from: number): string | undefined {
  const call = splitGit(words.slice(1));
  if (!call) return "git is called in a way that cannot be told";
  const { subcommand, rest } = call;
  const start = words.length - rest.length;
  const global = readWords(gitRow, words.slice(1, start)).options.find((option) => option.at + 1 >= from && isRisky(option));
  if (global) return `git ${global.name} can make it do something else`;
  if (subcommand === "") return undefined;
  const row = gitRowOf(subcommand);
  if (!row) return start - 1 < from ? undefined : `git ${subcommand} runs programs, or is not known`;
  const { options, operands, doubt } = readWords(row, rest);
  const isLater = ({ at }: { readonly at: number }): boolean => at + start >= from;
  const risk = options.find((option) => isLater(option) && isRisky(option));
  if (risk) return `git ${subcommand} ${risk.name} can run or write something else`;
  const strategy = options.find((option) => isLater(option) && isStrategy(subcommand, option));
  if (strategy && !(isPlain(strategy.value) && ownStrategies.test(strategy.value.text)))
    return `git ${subcommand} ${strategy.name} can run another program`;
  const later = operands.filter(isLater).map(({ word }) => word);
  if (doubt) return "an option of git is not written out";
  return (
    operandRisk(
      subcommand,
      operands.map(({ word }) => word),
      later,
    ) ??
    sweepRisk(call, { options, operands: operands.map(({ word }) => word) }) ??
    (subcommand === "config" && from < 3 ? configRisk(words) : undefined)
  );
}

function isRisky({ effect }: GivenOption): boolean {
  return effect === "runs" || effect === "configures" || effect === "writes" || effect === "lists" || effect === "moves";
}

/** A strategy that git does not have itself is a program of that name. */
const ownStrategies = /^(?:ort|recursive|resolve|octopus|ours|subtree)$/;

function isStrategy(subcommand: string, { name }: GivenOption): boolean {
  return name === "--strategy" || (name === "-s" && /^(?:merge|pull|rebase)$/.test(subcommand));
}

function configRisk(words: Words): string | undefined {
  return readGit(words.slice(1)) === undefined ? "git config can make git run programs" : undefined;
}

function operandRisk(subcommand: string, operands: Words, later: Words): string | undefined {
  const transport = later.find((word) => /^[\w+-]+::/.test(word.text));
  if (transport) return `${transport.text} is a transport that runs programs`;
  const [action] = operands;
  const told = actions[subcommand];
  if (told && action && later.includes(action) && !(isPlain(action) && told.test(action.text)))
    return `git ${subcommand} ${action.text} runs commands, or is not known`;
  if (/^(?:push|fetch|pull|ls-remote)$/.test(subcommand) && action && later.includes(action) && isPlace(action))
    return `git would use the repository ${action.text}, which may run programs`;
  return undefined;
}

/** Takes away files that git does not know: settings and rules are among them, unless it is told to keep to other folders. */
function sweepRisk(
  { subcommand, rest }: GitCall,
  given: { options: readonly GivenOption[]; operands: Words },
): string | undefined {
  const has = (...names: string[]): boolean => given.options.some(({ name }) => names.includes(name));
  const sweeps =
    subcommand === "clean"
      ? !has("-n", "--dry-run")
      : subcommand === "stash" && has("-a", "-u", "--all", "--include-untracked") && isPush(rest[0]);
  if (!sweeps) return undefined;
  const isNamed = subcommand === "stash" && isPlain(rest[0]) && !rest[0].text.startsWith("-");
  const folders = isNamed ? given.operands.slice(1) : given.operands;
  // Behind `save` stands a message.
  if (isNamed && rest[0]?.text === "save") return "git stash save would take away settings and rules as well";
  const isElsewhere = (word: ShellWord): boolean => isPlain(word) && /^(?!\.{0,2}\/*$)[^:*?[\]\\]+$/.test(word.text);
  return folders.length > 0 && folders.every(isElsewhere)
    ? undefined
    : `git ${subcommand} would take away settings and rules as well`;
}

function isPush(action: ShellWord | undefined): boolean {
  return !isPlain(action) || action.text.startsWith("-") || /^(?:push|save)$/.test(action.text);
}

/** Of these subcommands, what a rule for git covers. */
const actions: Readonly<Record<string, RegExp>> = {
  bisect: /^(?:start|good|bad|new|old|skip|reset|log|terms|next|help)$/,
  submodule: /^(?:status|init|update|sync|summary|deinit|absorbgitdirs|set-branch)$/,
  worktree: /^(?:list|add|remove|prune|lock|unlock|move)$/,
  stash: /^(?:list|show|push|pop|apply|drop|clear|save|branch|create|store)$/,
  notes: /^(?:list|add|append|copy|show|merge|remove|prune|get-ref)$/,
};

/** A folder, not the name of a remote or an address. */
function isPlace({ text, kind }: ShellWord): boolean {
  return kind !== "exact" || /^(?:[./~]|file:|[^:@]*\/[^:@]*$)/.test(text);
}
