import { withGitObjects } from "./stored-contents.ts";
import { foldPath, guardOf, isSecretOfProcess } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import type { Policy } from "./policy.ts";
import { type Action, allows, denies, isWrittenFor, namesTool, type Rule, readingOf, toPathTest } from "./rules.ts";

/** Takes the real path of a file that lies in what the call was given permission for. */
export type ReadCheck = (path: string) => boolean;

type ReadPolicy = Pick<Policy, "mode" | "allow" | "ask" | "deny" | "base" | "directories">;

/**
 * For files that come to the model without a call of its own: instructions, notes, and whatever a person adds for every prompt. Rules count
 * that name files; one that takes a tool away says nothing about them.
 */
export function toTextCheck({ deny, ask, ...policy }: ReadPolicy): ReadCheck | undefined {
  const named = (rules: readonly Rule[]): Rule[] => rules.filter(({ pattern }) => pattern !== undefined);
  return toReadCheck(
    { ...policy, deny: named(deny), ask: named(ask) },
    { tool: readingOf("").tool, approved: [policy.base.root] },
  );
}

/**
 * Permission for a folder is none for the files in it that deny or ask rules protect, nor for credentials outside the project.
 * What a rule wanted to ask about `approved` itself has been answered, and holds for what is in it.
 * Undefined where nothing speaks against any file, so that nobody has to ask.
 */
export function toReadCheck(
  policy: ReadPolicy,
  { tool, approved }: { tool: string; approved: readonly string[] },
): ReadCheck | undefined {
  const { base } = policy;
  const look = (resource: string): Action => ({ tool, kind: "look", resource });
  const isUnanswered = (rule: Rule): boolean => !approved.every((path) => denies(rule, look(path), base));
  const { deny, ask } = withGitObjects({ deny: policy.deny, ask: policy.ask.filter(isUnanswered) });
  const rules = [...deny, ...ask.filter(isUnanswered)].filter((rule) => namesTool(rule, look("")));
  const tests = rules.map((rule) => toPathTest(rule, base));
  const isGuarded = toGuard(policy, { look, approved });
  if (tests.length === 0 && !isGuarded) return undefined;

  const isNamed = (path: string): boolean => {
    const folded = foldPath(path);
    return tests.some((forbids) => forbids(folded));
  };
  return (path) => !isNamed(path) && !isGuarded?.(path);
}

type Scope = { readonly look: (resource: string) => Action; readonly approved: readonly string[] };

/** What is protected without a rule, as for a file that is named: only outside the project, and in the folder of processes. */
function toGuard(policy: ReadPolicy, { look, approved }: Scope): ReadCheck | undefined {
  const { base, mode, directories } = policy;
  const mayMatter = (path: string): boolean => !isInside(base.root, path) || isInside(path, "/proc") || isInside("/proc", path);
  if (!approved.some(mayMatter)) return undefined;
  const ground = { ...base, directories };
  const isGuarded = (path: string): boolean => guardOf(path, "look", ground) !== undefined;
  const isAnswered = mode === "bypassPermissions" || approved.some(isGuarded);
  const isOpened = (path: string): boolean =>
    policy.allow.some((rule) => allows(rule, look(path), base) && isWrittenFor(rule, look(path), base));
  return (path) => (isSecretOfProcess(path) || (!isAnswered && isGuarded(path))) && !isOpened(path);
}
