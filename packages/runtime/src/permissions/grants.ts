import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { pathKey } from "../util/path-key.ts";
import { runsAnything } from "./interpreters.ts";
import { isInside } from "../util/is-inside.ts";
import { type Action, isCommandTool, parseRule, type Rule, type RuleBase, suggestRule } from "./rules.ts";
import { messageOf } from "../util/message-of.ts";
import { defined } from "../util/defined.ts";
import { makeFolder } from "../util/make-folder.ts";

export type GrantScope = "session" | "project";

/** Where a rule that was remembered says it comes from: for telling a remembered yes from a written rule. */
export const grantSources: Readonly<Record<GrantScope, string>> = {
  session: "an answer given in this session",
  project: "an answer remembered for this project",
};

/** A yes to exactly this, again from the same place. Undefined when the action does not say what it is about. */
export function grantFor(action: Action, base: RuleBase): Rule | undefined {
  if (action.resource === "") return undefined;
  const exactly: Action = action.kind === "run" ? { ...action, cwd: action.cwd ?? base.root } : action;
  const text =
    action.kind === "reach" && !URL.canParse(action.resource) ? `${action.tool}(${action.resource})` : suggestRule(action, base);
  return { ...parseRule(text), text, source: undefined, exactly };
}

/** Would a rule like this, remembered, allow more than anybody could have been shown? */
export function isTooWideToRemember({ tool, pattern, exactly }: Rule): boolean {
  if (exactly) return false;
  if (tool.includes("*")) return true;
  if (!isCommandTool(tool)) return false;
  if (pattern === undefined) return true;
  const wild = pattern.replaceAll("\\*", "").includes("*");
  const [name = ""] = pattern.replace(/:\*$/, "").split(/\s+/);
  return wild && (name.includes("*") || runsAnything(name.slice(name.lastIndexOf("/") + 1)));
}

/** Answers that are not asked for again. Deny and ask rules stay over them: they are allow rules and nothing more. */
export interface Grants {
  rules(): readonly Rule[];
  remember(rule: Rule, scope: GrantScope): void;
  /** Forgets what was remembered for the project; says whether there was something. */
  forget(): boolean;
}

export type GrantsPlace = {
  /** Real path: another copy of the project is asked about anew. */
  readonly root: string;
  /** `grants` in the user's own folder; without it nothing outlasts the session. */
  readonly directory?: string;
  /** The user's home folder, which may hold `directory` and be a project at once. */
  readonly home?: string;
  readonly now?: () => number;
};

/** One file per project, one line per answer, appended: parallel runs never lose one. Never in the project, which could bring its own. */
export function createGrants({ root, directory, home, now = Date.now }: GrantsPlace): Grants {
  const isSafe = directory !== undefined && (root === home || !isInside(root, directory));
  const place = isSafe ? { directory, file: join(directory, `${pathKey(root)}.jsonl`) } : undefined;
  const session: Rule[] = [];
  const project: Rule[] = place ? readGrants(place.file, root) : [];
  return {
    rules: () => [...session, ...project],
    remember(rule, scope) {
      if (isTooWideToRemember(rule))
        throw new RuntimeError("usage", `${rule.text} is not remembered: it would allow running anything`);
      if (scope === "session") {
        session.push({ ...rule, source: grantSources.session });
        return;
      }
      if (!place)
        throw new RuntimeError("config", "Answers for a project are kept in OUTRIDER_HOME, which must lie outside of it");
      append(place.directory, place.file, {
        at: new Date(now()).toISOString(),
        root,
        rule: rule.text,
        ...defined({ exactly: rule.exactly }),
      });
      project.push({ ...rule, source: grantSources.project });
    },
    forget() {
      const known = project.length > 0;
      project.length = 0;
      if (place) rmSync(place.file, { force: true });
      return known;
    },
  };
}

type Line = { readonly at: string; readonly root: string; readonly rule: string; readonly exactly?: Action };

function append(directory: string, file: string, line: Line): void {
  try {
    makeFolder(directory);
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new RuntimeError("storage-failed", `${file} cannot be written: ${messageOf(error)}`);
  }
}

function readGrants(file: string, root: string): Rule[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return []; // what cannot be read allows nothing
  }
  return text.split("\n").flatMap((line) => readGrant(line, root) ?? []);
}

/** A line that is broken, or speaks of another place, allows nothing. */
function readGrant(line: string, root: string): Rule | undefined {
  try {
    const { root: place, rule: written, exactly } = JSON.parse(line) as Partial<Record<keyof Line, unknown>>; // each is looked at below
    if (place !== root || typeof written !== "string") return undefined;
    const rule = { ...parseRule(written, grantSources.project), ...(isAction(exactly) && { exactly }) };
    return (exactly === undefined || isAction(exactly)) && !isTooWideToRemember(rule) ? rule : undefined;
  } catch {
    return undefined;
  }
}

function isAction(value: unknown): value is Action {
  if (typeof value !== "object" || value === null) return false;
  const { tool, kind, resource, cwd, shell } = value as Partial<Record<keyof Action, unknown>>; // each is looked at here
  const isOptional = (text: unknown): boolean => text === undefined || typeof text === "string";
  const isKind = kind === "look" || kind === "edit" || kind === "run" || kind === "reach" || kind === "note";
  return (
    typeof tool === "string" && isKind && typeof resource === "string" && resource !== "" && isOptional(cwd) && isOptional(shell)
  );
}
