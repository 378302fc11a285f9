import type { ModelRef } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";

export type ModelChoice = { readonly model: string; readonly warning?: string };

/** Claude Code's words for the newest model of a family. */
const families: ReadonlySet<string> = new Set(["haiku", "sonnet", "opus"]);

/**
 * The model a subagent asks for: the session's, or another one of the same provider. A family Claude Code has a word for is the newest
 * the provider lists; where it has none, such as at another provider, the session's own model does the work.
 */
export function chooseModel(wanted: string | undefined, session: ModelRef, listed: readonly string[]): ModelChoice {
  if (wanted === undefined || wanted === "inherit") return { model: session.id };
  const word = wanted.toLowerCase();
  if (families.has(word)) {
    if (session.id.toLowerCase().includes(word)) return { model: session.id };
    const newest = listed
      .filter((id) => id.startsWith("claude-") && id.includes(word))
      .sort(byVersion)
      .at(-1);
    if (newest !== undefined) return { model: newest };
    return { model: session.id, warning: `${session.provider} has no model called ${wanted}: the subagent asks ${session.id}` };
  }
  const slash = wanted.indexOf("/");
  if (slash > 0 && wanted.slice(0, slash) === session.provider && !listed.includes(wanted))
    return { model: wanted.slice(slash + 1) };
  if (/\s/.test(wanted)) throw new RuntimeError("usage", `${JSON.stringify(wanted)} is no name of a model`);
  return { model: wanted };
}

export function needsList(wanted: string | undefined): boolean {
  return wanted !== undefined && (families.has(wanted.toLowerCase()) || wanted.includes("/"));
}

function byVersion(a: string, b: string): number {
  const [left, right] = [versionOf(a), versionOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

/** Longer numbers are dates. */
function versionOf(id: string): number[] {
  return (id.match(/\d+/g) ?? []).filter((digits) => digits.length < 3).map(Number);
}
