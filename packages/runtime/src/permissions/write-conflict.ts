import { basename, join } from "node:path";
import { splitGit } from "./git-commands.ts";
import type { Target } from "./command-paths.ts";
import { mayHold } from "./path-patterns.ts";
import { mayMeet, type Seen } from "./forbidden-below.ts";
import { forbiddenPlace } from "./forbidden-paths.ts";
import type { Rule } from "./rules.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import { rewrittenBy } from "./rewriters.ts";
import { asModule } from "./script-names.ts";
import { exactWord, isPlain } from "./shell-words.ts";
import { extractionRisk } from "./written-files.ts";

type Touched = { readonly kind: "look" | "edit"; readonly target: { readonly path: string } | undefined };
type Ground = {
  readonly rules: readonly Rule[];
  readonly seen: Seen;
  readonly find: (use: FileUse) => Promise<readonly Target[]>;
};

/** Why a program may change a file that one of the rules keeps from being edited, although no word names it: it works on whole folders. */
export async function writeConflict(program: Program, uses: readonly Touched[], ground: Ground): Promise<string | undefined> {
  const [first] = ground.rules;
  if (!first) return undefined;
  if (changesUnnamed(program))
    return `${program.name} changes files without naming them, and the rule ${first.text} protects some`;
  const kinds = kindsThatChange(program);
  for (const { kind, target } of uses) {
    if (!target || !(kinds.includes(kind) || (kind === "edit" && target.path.endsWith("/**")))) continue;
    const folder = target.path.replace(/\/\*\*$/, "");
    const isFolder = folder !== target.path || (await ground.seen.list?.(folder)) !== undefined;
    const reaching = isFolder ? await firstMet(ground.rules, folder, ground.seen) : undefined;
    if (reaching) return `it changes whole folders, where the rule ${reaching.text} protects files`;
  }
  return rewriteConflict(program, ground);
}

/** Formatters and package managers change files that no word names. */
async function rewriteConflict(program: Program, { rules, seen, find }: Ground): Promise<string | undefined> {
  const { base, list } = seen;
  const { named, below, endings } = rewrittenBy(program);
  const patterns = rules.map((rule) => ({ rule, place: forbiddenPlace(rule, base) }));
  const places = named.length > 0 ? await find({ word: exactWord("."), places: program.places }) : [];
  const folders = [base.root, ...places.flatMap((target) => target?.path ?? [])];
  const kept = patterns.find(({ place }) =>
    named.some((name) => name === basename(place) || folders.some((folder) => mayHold(join(folder, name), place, false))),
  );
  if (kept) return `${program.name} keeps files by itself, and the rule ${kept.rule.text} protects some`;
  for (const word of below) {
    for (const target of await find({ word, places: program.places })) {
      const folder = target?.path.replace(/\/\*\*$/, "");
      const isFolder = folder === undefined || (await list?.(folder)) !== undefined;
      const meant = patterns.filter(({ place }) => isFolder && mayEndIn(place, endings)).map(({ rule }) => rule);
      const hit = folder === undefined ? meant[0] : await firstMet(meant, folder, seen);
      if (hit) return `it changes whole folders, where the rule ${hit.text} protects files`;
    }
  }
  return undefined;
}

async function firstMet(rules: readonly Rule[], folder: string, seen: Seen): Promise<Rule | undefined> {
  for (const rule of rules) if (await mayMeet(rule, folder, seen)) return rule;
  return undefined;
}

/** Could the pattern of a rule name a file that ends like this? */
function mayEndIn(pattern: string, endings: readonly string[] | undefined): boolean {
  const [, ending] = /\.(\w+)$/.exec(basename(pattern)) ?? [];
  return ending === undefined || endings === undefined || endings.includes(ending);
}

/** Which of its files a program changes with all that is in them. */
function kindsThatChange({ name, words }: Program): readonly ("look" | "edit")[] {
  const has = (pattern: RegExp): boolean => words.some((word) => !isPlain(word) || pattern.test(word.text));
  if (name === "mv") return ["look"]; // where it moves things to, nothing else is changed
  if (/^(?:rsync|tar|unzip|7z|git)$/.test(name)) return ["edit"];
  return /^(?:rm|cp|chmod|chown|chgrp)$/.test(name) && has(/^-[^-]*[rRa]|^--(?:rec|arch)/) ? ["edit"] : [];
}

function changesUnnamed(program: Program): boolean {
  const { name, words } = program;
  const call = name === "git" ? splitGit(words.slice(1)) : undefined;
  if (!call) return extractionRisk(asModule(program)) !== undefined;
  if (/^(?:clean|apply|am|sparse-checkout|read-tree|checkout-index)$/.test(call.subcommand)) return true;
  const [action] = call.rest;
  if (call.subcommand === "stash") return !isPlain(action) || !/^(?:list|show|drop|clear)$/.test(action.text);
  const has = (pattern: RegExp): boolean => call.rest.some((word) => pattern.test(word.text));
  if (call.subcommand === "reset") return has(/^--(?:h|me|k)/);
  if (/^(?:checkout|switch)$/.test(call.subcommand) && has(/^-[^-]*f|^--(?:fo|discard)/)) return true;
  const isOpen = call.rest.some((word) => !isPlain(word));
  // Patterns in quotes are for git itself.
  return /^(?:checkout|restore|rm|mv)$/.test(call.subcommand) && (isOpen || has(/^(?:\.\/?|:.*)$|[*?[\\]/));
}
