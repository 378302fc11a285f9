import type { ModelRef } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";

export type ModelChoice = { readonly model: string; readonly warning?: string };

/** Claude Code's words for the newest model of a family. */
const families: ReadonlySet<string> = new Set(["haiku", "sonnet", "opus", "fable"]);

/** What is known of the session's provider. */
export type KnownModels = {
  readonly listed: readonly string[];
  /** The model that a word means there. */
  resolve(word: string): string | undefined;
};

/**
 * The model a subagent asks for: the session's, or another one of the same provider. A family Claude Code has a word for is the newest of
 * the provider's; where it has none, such as at another provider, the session's own model does the work.
 */
export function chooseModel(wanted: string | undefined, session: ModelRef, { listed, resolve }: KnownModels): ModelChoice {
  if (wanted === undefined || wanted === "inherit") return { model: session.id };
  const word = wanted.toLowerCase();
  if (families.has(word)) {
    if (session.id.toLowerCase().includes(word)) return { model: session.id };
    const newest = resolve(word);
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
  return wanted?.includes("/") ?? false;
}
