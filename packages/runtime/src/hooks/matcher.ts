import { messageOf } from "../util/message-of.ts";

const maxPattern = 512;
const maxSubject = 200;
const maxRepeats = 3;

/** A matcher's pattern, or why it is none. */
export type MatcherReading =
  | { readonly ok: true; readonly matches: (subject: string) => boolean }
  | { readonly ok: false; readonly problem: string; readonly isNoExpression?: true };

/** Names, and nothing else: none of these characters means anything in an expression, but for the two between names. */
const names = /^[\w\- ,|]*$/;

/**
 * Nothing or `*` matches everything; names with `|` or `,` between them match themselves; anything else is a regular expression that
 * matches wherever it fits. Patterns that could take for ever on some name are refused. A name too long to be a name matches an
 * expression: a hook that runs once too often is better than one that is missed.
 */
export function readMatcher(pattern: string): MatcherReading {
  if (pattern === "" || pattern === "*") return { ok: true, matches: () => true };
  if (pattern.length > maxPattern) return refused(`it is longer than ${maxPattern} characters`);
  if (names.test(pattern)) {
    const wanted = new Set(pattern.split(/[|,]/).map((name) => name.trim()));
    return { ok: true, matches: (subject) => wanted.has(subject) };
  }
  let expression: RegExp;
  try {
    expression = new RegExp(pattern);
  } catch (error) {
    return { ...refused(messageOf(error)), isNoExpression: true };
  }
  const danger = dangerOf(pattern);
  if (danger) return refused(danger);
  return { ok: true, matches: (subject) => subject.length > maxSubject || expression.test(subject) };
}

function refused(problem: string): MatcherReading & { ok: false } {
  return { ok: false, problem };
}

type Group = { repeats: boolean; chooses: boolean; start: number };

/**
 * What makes matching explode: a repeated group that itself repeats or chooses (exponential), or many repeats in a row (a high power).
 * The pattern is known to be a regular expression.
 */
function dangerOf(pattern: string): string | undefined {
  const open: Group[] = [{ repeats: false, chooses: false, start: 0 }];
  let repeats = 0;
  let closed: Group | undefined; // the group that ended right before this character
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    const ended = closed;
    closed = undefined;
    const group = open.at(-1);
    if (character === "\\") {
      if (/[1-9k]/.test(pattern.charAt(at + 1))) return "it refers back to a group";
      at++;
    } else if (character === "[") at = endOfClass(pattern, at);
    else if (character === "(") {
      open.push({ repeats: false, chooses: false, start: at });
      at = afterGroupMark(pattern, at);
    } else if (character === ")") {
      closed = open.pop();
      const outer = open.at(-1);
      if (outer && closed?.repeats) outer.repeats = true;
      if (outer && closed?.chooses) outer.chooses = true;
    } else if (character === "|" && group) group.chooses = true;
    else if (isRepeat(pattern, at) && group) {
      const again = character !== "?";
      if (again && (ended?.repeats || ended?.chooses))
        return `it repeats the group ${pattern.slice(ended.start, at)}, which itself repeats or chooses`;
      if (again && ++repeats > maxRepeats) return `it has more than ${maxRepeats} repeats`;
      group.repeats = true;
    }
  }
  return undefined;
}

function isRepeat(pattern: string, at: number): boolean {
  if ("*+?".includes(pattern.charAt(at))) return true;
  return /^\{\d+(?:,\d*)?\}/.test(pattern.slice(at));
}

/** `(?:`, `(?=`, `(?!`, `(?<=`, `(?<name>`: the question mark there repeats nothing. */
function afterGroupMark(pattern: string, at: number): number {
  return at + (/^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(pattern.slice(at))?.[0].length ?? 1) - 1;
}

function endOfClass(pattern: string, at: number): number {
  let end = at + 1;
  while (end < pattern.length && pattern.charAt(end) !== "]") end += pattern.charAt(end) === "\\" ? 2 : 1;
  return end;
}
