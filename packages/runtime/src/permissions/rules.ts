import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { CallKind } from "../protocol/tool-facts.ts";
import { fixedPart, foldPath, guardOf, toAbsolutePattern } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";

/** `Tool` or `Tool(pattern)`, as written by a person; or `preset:NAME`, which names no tool and is opened where commands are judged. */
export type Rule = {
  readonly text: string;
  readonly tool: string;
  readonly pattern: string | undefined;
  /** Where it was written: a flag or a file. */
  readonly source: string | undefined;
  /** A remembered answer: only this very action, from the same place; never a part of another command, never a pattern. */
  readonly exactly?: Action;
};

/** One thing a call would do, in the terms rules are written in. */
export type Action = {
  readonly tool: string;
  readonly kind: CallKind;
  /** Absolute real paths for look and edit. */
  readonly resource: string;
  /** With `look`: names and facts are shown, not what files say. */
  readonly namesOnly?: true | undefined;
  /** Where a command starts; the root when absent. */
  readonly cwd?: string;
  /** The command is to run outside the sandbox: what only the mode allows is not for there. */
  readonly outside?: true;
  /** What would read the command; bash when absent. */
  readonly shell?: string;
};

/** What rules have to say about reading a file, whoever reads it. */
export function readingOf(realPath: string): Action {
  return { tool: "Read", kind: "look", resource: realPath };
}

/** Where relative patterns start. */
export type RuleBase = { readonly root: string; readonly home: string | undefined; readonly platform?: string };

export function parseRule(text: string, source?: string): Rule {
  const preset = /^\s*(preset:[a-z]+)\s*$/.exec(text)?.[1];
  if (preset !== undefined) return { text: preset, tool: preset, pattern: undefined, source };
  const match = /^([A-Za-z_][\w*-]*)(?:\((.*)\))?$/s.exec(text.trim());
  const tool = match?.[1];
  if (!tool)
    throw new RuntimeError(
      "usage",
      `Not a permission rule: ${JSON.stringify(text)}. Expected Tool or Tool(pattern), like Bash(npm test:*)`,
    );
  const pattern = match[2]?.trim();
  const whole = pattern === undefined || pattern === "" || /^:?\*$/.test(pattern) || (pattern === "**" && !isCommandTool(tool));
  return { text: text.trim(), tool, pattern: whole ? undefined : pattern, source };
}

/** The same rule wherever it is used from: a relative path in it starts at `folder`, where it was written. */
export function anchorRule(rule: Rule, folder: string): Rule {
  const { tool, pattern } = rule;
  const isPath = pattern !== undefined && !isCommandTool(tool) && !/^(?:Web|mcp__|Task$|Agent$|Skill$)/.test(tool);
  if (!isPath || pattern.startsWith("//") || pattern === "~" || pattern.startsWith("~/")) return rule;
  return { ...rule, pattern: `/${join(folder, pattern)}` };
}

/** Does the rule let this happen? A doubt is a no. Commands are matched elsewhere, part by part. */
export function allows(rule: Rule, action: Action, base: RuleBase): boolean {
  if (rule.exactly) return isSameAction(rule.exactly, action, base);
  if (!namesTool(rule, action)) return false;
  return rule.pattern === undefined || (action.kind !== "run" && matchesResource(rule.pattern, action, base));
}

/** Does the rule forbid this? A doubt is a yes. */
export function denies(rule: Rule, action: Action, base: RuleBase): boolean {
  if (!namesTool(rule, action)) return false;
  if (rule.pattern === undefined) return true;
  if (action.kind === "run") return false;
  if (action.kind === "look" || action.kind === "edit") return toPathTest(rule, base)(foldPath(action.resource));
  return matchesResource(rule.pattern, action, base);
}

/** Was the rule written for the guarded place this file is in, or does it only happen to reach there? */
export function isWrittenFor(rule: Rule, action: Action, base: RuleBase): boolean {
  if (rule.exactly) return true;
  if (rule.pattern === undefined || (action.kind !== "look" && action.kind !== "edit")) return false;
  const fixed = fixedPart(toAbsolutePattern(rule.pattern, base));
  return !isInside(fixed, base.root) && guardOf(fixed, action.kind, base) !== undefined;
}

/** Files are the same whichever tool touches them; an address is its host, no other one below it. */
function isSameAction(known: Action, action: Action, base: RuleBase): boolean {
  if (known.kind !== action.kind) return false;
  if (action.kind === "look" || action.kind === "edit") return known.resource === action.resource;
  if (known.tool !== action.tool) return false;
  const host = action.kind === "reach" ? hostOf(known.resource) : undefined;
  if (host !== undefined) return hostOf(action.resource) === host;
  return known.resource === action.resource && known.shell === action.shell && placeOf(known, base) === placeOf(action, base);
}

function placeOf(action: Action, base: RuleBase): string {
  return action.cwd ?? base.root;
}

/** A rule that would allow exactly this. */
export function suggestRule(action: Action, base: RuleBase): string {
  switch (action.kind) {
    case "run":
      return `${action.tool}(${action.resource.trim().replaceAll("*", "\\*")})`;
    case "look":
    case "edit":
      return `${action.kind === "look" ? "Read" : "Edit"}(${describePath(action.resource, base)})`;
    case "reach": {
      const host = hostOf(action.resource);
      return host ? `${action.tool}(domain:${host})` : action.tool;
    }
    case "note":
      return action.tool;
  }
}

/** Other names under which rules know a tool. */
export const toolAliases: ReadonlyMap<string, string> = new Map([
  ["Shell", "Bash"],
  ["BashTool", "Bash"],
  ["Agent", "Task"],
  ["MultiEdit", "Edit"],
  ["NotebookEdit", "Edit"],
  ["apply_patch", "Edit"],
  ["LS", "Glob"],
  ["BashOutput", "TaskOutput"],
  ["KillShell", "TaskStop"],
  ["KillBash", "TaskStop"],
]);

export function isCommandTool(name: string): boolean {
  return (toolAliases.get(name) ?? name) === "Bash";
}

/** Rules with this name speak of starting agents. */
export function isAgentTool(name: string): boolean {
  return (toolAliases.get(name) ?? name) === "Task";
}

/** `Edit` rules speak for every tool that changes files, `Read` rules for every tool that reads them, `mcp__x` for every tool of that server. */
export function namesTool(rule: Rule, action: Action): boolean {
  const wanted = toolAliases.get(rule.tool) ?? rule.tool;
  const tool = toolAliases.get(action.tool) ?? action.tool;
  if (wanted === "Edit" && action.kind === "edit") return true;
  if (wanted === "Read" && action.kind === "look") return true;
  if (wanted === "Bash" && action.kind === "run") return true;
  if (wanted === "Write" && action.tool === "apply_patch") return true; // it takes the place of both
  if (wanted.includes("*")) return globToRegExp(wanted).test(tool);
  return wanted === tool || (/^mcp__(?:(?!__).)+$/.test(wanted) && tool.startsWith(`${wanted}__`));
}

function matchesResource(pattern: string, action: Action, base: RuleBase): boolean {
  if (action.kind === "reach" && pattern.startsWith("domain:")) {
    const domain = pattern.slice("domain:".length).toLowerCase();
    const host = hostOf(action.resource);
    return host !== undefined && (host === domain || host.endsWith(`.${domain}`));
  }
  if (action.kind === "look" || action.kind === "edit")
    return globToRegExp(toAbsolutePattern(pattern, base)).test(action.resource);
  return globToRegExp(pattern).test(action.resource);
}

/**
 * Does the rule forbid a file, given its folded path? Made once for many of them.
 * `x/**` forbids `x` too: whoever replaces the folder replaces what is in it. And `x` forbids what is in it, should it be a folder.
 */
export function toPathTest(rule: Rule, base: RuleBase): (folded: string) => boolean {
  if (rule.pattern === undefined) return () => true;
  const pattern = foldPath(toAbsolutePattern(unescapeGlob(rule.pattern), base));
  const file = globToRegExp(pattern);
  const other = globToRegExp(pattern.endsWith("/**") ? pattern.slice(0, -3) : `${pattern.replace(/\/$/, "")}/**`);
  return (folded) => file.test(folded) || other.test(folded);
}

/** What is taken literally is taken as a wildcard: more is forbidden, never less. */
export function unescapeGlob(pattern: string): string {
  return pattern.replace(/\\([*?])/g, "$1");
}

function describePath(real: string, base: RuleBase): string {
  const path = real.startsWith(`${base.root}/`) ? `./${real.slice(base.root.length + 1)}` : `/${real}`;
  return path.replace(/[*?]/g, "\\$&");
}

const compiled = new Map<string, RegExp>();

function globToRegExp(glob: string): RegExp {
  const known = compiled.get(glob);
  if (known) return known;
  const source = glob
    .replace(/(?:\*\*\/)+/g, "**/")
    .split(/(\\[*?]|\*\*\/|\*\*|\*|\?)/)
    .map((piece) => {
      if (/^\\[*?]$/.test(piece)) return piece;
      if (piece === "**/") return "(?:.*/)?";
      if (piece === "**") return ".*";
      if (piece === "*") return "[^/]*";
      if (piece === "?") return "[^/]";
      return piece.replace(/[.+^${}()|[\]\\]/g, "\\$&");
    });
  const expression = new RegExp(`^${source.join("")}$`, "s");
  if (compiled.size > 1_000) compiled.clear();
  compiled.set(glob, expression);
  return expression;
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}
