import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { CallKind } from "../protocol/tool-facts.ts";
import { forbiddenPatterns, isAnyDepth } from "./forbidden-paths.ts";
import { forbidsHost, forbidsName } from "./forbidden-text.ts";
import { fixedPart, foldPath, guardOf, originalOf, toAbsolutePattern } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import { anyFolders, anyText, letterOfName, matchPieces, partOfName, type Piece } from "../util/match-pieces.ts";

/** `Tool` or `Tool(pattern)`, as written by a person; or `preset:NAME`, which names no tool and is opened where commands are judged. */
export type Rule = {
  readonly text: string;
  readonly tool: string;
  readonly pattern: string | undefined;
  /** Where it was written: a flag or a file. */
  readonly source: string | undefined;
  /** It was a name alone before it was anchored: where it forbids, it does so in every folder below. */
  readonly anyDepth?: boolean;
  /** A wildcard of it stands for files and folders of the project, and for options that do no more: it is a preset's. */
  readonly narrow?: true;
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
  /** The command runs already, and is told something: a rule that let it begin says nothing of that. */
  readonly isInput?: true;
  /** What would read the command; bash when absent. */
  readonly shell?: string;
  /** What the call was given: deny and ask rules may speak of a parameter. */
  readonly input?: unknown;
};

/** What rules have to say about reading a file, whoever reads it. */
export function readingOf(realPath: string): Action {
  return { tool: "Read", kind: "look", resource: realPath };
}

/** The same about changing it. */
export function editingOf(realPath: string): Action {
  return { tool: "Edit", kind: "edit", resource: realPath };
}

/** Where relative patterns start. */
export type RuleBase = {
  readonly root: string;
  readonly home: string | undefined;
  readonly platform?: string;
  /** Real paths of files that the session itself runs. */
  readonly runOutside?: readonly string[];
};

/** No path and no name is longer. */
const maxPattern = 4_096;

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
  if (pattern !== undefined && pattern.length > maxPattern && !isCommandTool(tool))
    throw new RuntimeError("usage", `A pattern of a ${tool} rule has at most ${maxPattern} characters, not ${pattern.length}`);
  const whole = pattern === undefined || pattern === "" || /^:?\*$/.test(pattern) || (pattern === "**" && !isCommandTool(tool));
  return { text: text.trim(), tool, pattern: whole ? undefined : pattern, source };
}

/** The same rule wherever it is used from: a relative path in it starts at `folder`, where it was written. */
export function anchorRule(rule: Rule, folder: string): Rule {
  const { tool, pattern } = rule;
  const isPath = pattern !== undefined && !isCommandTool(tool) && !/^(?:Web|mcp__|Task$|Agent$|Skill$)/.test(tool);
  if (!isPath || pattern.startsWith("//") || pattern === "~" || pattern.startsWith("~/")) return rule;
  return { ...rule, pattern: `/${join(folder, pattern)}`, ...(isAnyDepth(pattern) && { anyDepth: true }) };
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
  const host = action.kind === "reach" && rule.pattern.startsWith("domain:") ? hostOf(action.resource) : undefined;
  if (host !== undefined) return forbidsHost(rule.pattern.slice("domain:".length).toLowerCase(), host);
  return forbidsName(rule.pattern, action.resource);
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
  ["outrider_command_skills", "Skill"],
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
  if (wanted.includes("*")) return matchesGlob(wanted, tool);
  return wanted === tool || (/^mcp__(?:(?!__).)+$/.test(wanted) && tool.startsWith(`${wanted}__`));
}

function matchesResource(pattern: string, action: Action, base: RuleBase): boolean {
  if (action.kind === "reach" && pattern.startsWith("domain:")) {
    const domain = pattern.slice("domain:".length).toLowerCase();
    const host = hostOf(action.resource);
    if (host === undefined) return false;
    return domain.startsWith("*.") ? host.endsWith(domain.slice(1)) : host === domain || host.endsWith(`.${domain}`);
  }
  if (action.kind === "look" || action.kind === "edit") return matchesGlob(toAbsolutePattern(pattern, base), action.resource);
  return matchesGlob(pattern, action.resource);
}

/**
 * Does the rule forbid a file, given its folded path? Made once for many of them.
 * It forbids the copy of that file in a worktree as well.
 * `x/**` forbids `x` too: whoever replaces the folder replaces what is in it. And `x` forbids what is in it, should it be a folder.
 */
export function toPathTest(rule: Rule, base: RuleBase): (folded: string) => boolean {
  if (rule.pattern === undefined) return () => true;
  const globs = forbiddenPatterns(rule, base).flatMap((written) => {
    const pattern = foldPath(written);
    return [pattern, pattern.endsWith("/**") ? pattern.slice(0, -3) : `${pattern.replace(/\/$/, "")}/**`];
  });
  const forbids = (folded: string): boolean => globs.some((glob) => matchesGlob(glob, folded));
  return (folded) => forbids(folded) || (folded.includes("/.outrider/") && forbids(originalOf(folded)));
}

function describePath(real: string, base: RuleBase): string {
  const path = real.startsWith(`${base.root}/`) ? `./${real.slice(base.root.length + 1)}` : `/${real}`;
  return path.replace(/[*?]/g, "\\$&");
}

const compiled = new Map<string, readonly Piece[]>();

function matchesGlob(glob: string, text: string): boolean {
  const known = compiled.get(glob) ?? readGlob(glob);
  if (compiled.size > 1_000) compiled.clear();
  compiled.set(glob, known);
  return matchPieces(known, text);
}

/** `**` is anything, `*` and `?` stay within a name, and a wildcard after a backslash is itself. */
function readGlob(glob: string): Piece[] {
  return glob
    .replace(/(?:\*\*\/)+/g, "**/")
    .split(/(\\[*?]|\*\*\/|\*\*|\*|\?)/) // what is empty between two of them fits everywhere
    .map((word) => {
      if (word === "**/") return anyFolders;
      if (word === "**") return anyText;
      if (word === "*") return partOfName;
      if (word === "?") return letterOfName;
      return { kind: "text", text: /^\\[*?]$/.test(word) ? word.slice(1) : word };
    });
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase().replace(/\.$/, "") : undefined;
}
