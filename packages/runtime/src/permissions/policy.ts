import type { InertGit, PermissionMode } from "../protocol/permission.ts";
import type { ListFolder } from "./glob-words.ts";
import type { ProgramFinder } from "./program-finder.ts";
import type { Rule, RuleBase } from "./rules.ts";
import { defined } from "../util/defined.ts";

/** What a command in the box can reach of what lies outside. */
export type BoxReach = {
  /** May a program in the box talk to this host? */
  readonly reaches: (url: URL) => boolean;
  /** Directories it can change beside the project. */
  readonly writable: readonly string[];
};

export type Policy = {
  readonly mode: PermissionMode;
  readonly allow: readonly Rule[];
  /** Asked about even where a mode or an allow rule says yes. */
  readonly ask: readonly Rule[];
  /** Over everything else. */
  readonly deny: readonly Rule[];
  readonly base: RuleBase;
  /** Directories beside the root that belong to the work: what a mode allows in the root, it allows there. */
  readonly directories?: readonly string[];
  /** Directories that may be read, such as the one for long outputs. */
  readonly readable: readonly string[];
  /** Names of the variables that commands find in their environment, where that is known. */
  readonly environment?: ReadonlySet<string> | undefined;
  /** Those of them that look like secrets by their name or value: programs that nobody has approved do not get them. */
  readonly withheld?: (() => readonly string[]) | undefined;
  /** A folder with a `git` that obeys no repository. Without one, git is asked about: a repository can make it run programs. */
  readonly inertGit?: (() => Promise<string | undefined>) | undefined;
  /** The box commands can run in, told when it matters; absent where there is none, and nothing may then rest on it. */
  readonly box?: (() => Promise<BoxReach>) | undefined;
  /** Whether something that nobody watches could change where a path leads before a command outside the box uses it. */
  readonly mayPathsMove?: (() => boolean) | undefined;
  /** What is in a folder: without it, a command with a pattern is asked about. */
  readonly listFolder?: ListFolder | undefined;
  /** What a small file says; it rejects, or answers undefined, when that cannot be told: such a file counts as if it said anything. */
  readonly readText?: ((file: string) => Promise<string | undefined>) | undefined;
  /** Where the name of a program leads; without it, programs nobody knows are asked about. */
  readonly programs?: ProgramFinder | undefined;
  /** Commands that only ask others on the network, such as `gh pr view`, need no question. */
  readonly networkReads?: boolean | undefined;
};

/**
 * Whose word lets a call happen. A rule, a remembered answer, a hook's yes and bypassing are words of the user's; `mode` alone
 * means that nobody has said anything about this call: it only looks, or it is of a kind the mode lets happen.
 */
export type AllowedBy = "rule" | "grant" | "hook" | "bypass" | "mode";

export type Decision = {
  readonly effect: "allow" | "ask" | "deny";
  readonly reason: string;
  /** With `allow`: by the mode alone when absent. */
  readonly by?: AllowedBy;
  /** With `allow` by a rule: the rule names some programs of the command, the mode alone lets the others run. */
  readonly partly?: true;
  /** With `allow`: only with this git. */
  readonly git?: InertGit;
  /** The rule that decided, or for `ask` one that would allow it. */
  readonly rule?: string;
  /** Where the rule that decided was written. */
  readonly source?: string;
  /** With `ask`: the file it is asked about, where it is one. */
  readonly path?: string;
};

/** Links followed to the end, as the file system would. */
export type ResolvePath = (path: string) => Promise<string>;

export function denied(rule: Rule): Decision {
  return { effect: "deny", reason: `The rule ${rule.text} forbids it`, ...byRule(rule) };
}

export function allowed(rule: Rule): Decision {
  return { effect: "allow", reason: `The rule ${rule.text} allows it`, by: rule.exactly ? "grant" : "rule", ...byRule(rule) };
}

function byRule(rule: Rule): Pick<Decision, "rule" | "source"> {
  return { rule: rule.text, ...defined({ source: rule.source }) };
}

/** Of two, the stricter; of two that allow, the one that rests on less. */
export function stricter(first: Decision, second: Decision): Decision {
  return strictness.indexOf(restsOn(second)) > strictness.indexOf(restsOn(first)) ? second : first;
}

const strictness = ["word", "mode", "ask", "deny"];

function restsOn({ effect, by = "mode" }: Decision): string {
  if (effect !== "allow") return effect;
  return by === "mode" ? "mode" : "word";
}
