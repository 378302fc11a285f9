import { isAbsolute, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";

/** `Tool` or `Tool(pattern)`, as written by a person. */
export type Rule = { readonly text: string; readonly tool: string; readonly pattern: string | undefined };

/** One thing a call would do, in the terms rules are written in. */
export type Action = {
  readonly tool: string;
  readonly kind: "look" | "edit" | "run" | "reach" | "note";
  readonly resource: string;
};

/** Where relative patterns start. */
export type RuleBase = { readonly root: string; readonly home: string | undefined };

export function parseRule(text: string): Rule {
  const match = /^([A-Za-z_][\w*-]*)(?:\((.*)\))?$/s.exec(text.trim());
  const tool = match?.[1];
  if (!tool)
    throw new RuntimeError(
      "usage",
      `Not a permission rule: ${JSON.stringify(text)}. Expected Tool or Tool(pattern), like Bash(npm test:*)`,
    );
  const pattern = match[2];
  return { text: text.trim(), tool, pattern: pattern === undefined || pattern === "" || pattern === "*" ? undefined : pattern };
}

/** Does the rule let this happen? A doubt is a no. */
export function allows(rule: Rule, action: Action, base: RuleBase): boolean {
  if (!namesTool(rule, action)) return false;
  if (rule.pattern === undefined) return true;
  if (action.kind === "run")
    return isPlainCommand(action.resource) ? matchesCommand(rule.pattern, action.resource) : rule.pattern === action.resource;
  return matchesResource(rule.pattern, action, base);
}

/** Does the rule forbid this? A doubt is a yes: a command is looked at in all its parts. */
export function denies(rule: Rule, action: Action, base: RuleBase): boolean {
  const pattern = rule.pattern;
  if (!namesTool(rule, action)) return false;
  if (pattern === undefined) return true;
  if (action.kind === "run") return commandParts(action.resource).some((part) => matchesCommand(pattern, part));
  return matchesResource(pattern, action, base);
}

/** A rule that would allow exactly this. */
export function suggestRule(action: Action, base: RuleBase): string {
  switch (action.kind) {
    case "run":
      return `${action.tool}(${action.resource})`;
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

/** `Edit` rules speak for every tool that changes files, `Read` rules for every tool that reads them. */
function namesTool(rule: Rule, action: Action): boolean {
  if (rule.tool === "Edit" && action.kind === "edit") return true;
  if (rule.tool === "Read" && action.kind === "look") return true;
  if (!rule.tool.includes("*")) return rule.tool === action.tool;
  return globToRegExp(rule.tool).test(action.tool);
}

function matchesResource(pattern: string, action: Action, base: RuleBase): boolean {
  if (action.kind === "reach" && pattern.startsWith("domain:")) {
    const domain = pattern.slice("domain:".length).toLowerCase();
    const host = hostOf(action.resource);
    return host !== undefined && (host === domain || host.endsWith(`.${domain}`));
  }
  if (action.kind === "look" || action.kind === "edit") return globToRegExp(toAbsolute(pattern, base)).test(action.resource);
  return globToRegExp(pattern).test(action.resource);
}

/** `//x` is absolute, `/x` and `./x` and `x` start at the project, `~/x` at home. */
function toAbsolute(pattern: string, base: RuleBase): string {
  if (pattern.startsWith("//")) return pattern.slice(1);
  if (pattern.startsWith("~/")) return join(base.home ?? "/nonexistent", pattern.slice(2));
  return join(base.root, isAbsolute(pattern) ? pattern.slice(1) : pattern);
}

function describePath(path: string, base: RuleBase): string {
  return path.startsWith(`${base.root}/`) ? `./${path.slice(base.root.length + 1)}` : `/${path}`;
}

/** `prefix:*` is the prefix alone or followed by more words; other `*` stand for any text. */
function matchesCommand(pattern: string, command: string): boolean {
  const trimmed = command.trim();
  if (pattern.endsWith(":*")) {
    const prefix = pattern.slice(0, -2);
    return trimmed === prefix || trimmed.startsWith(`${prefix} `);
  }
  if (!pattern.includes("*")) return trimmed === pattern.trim();
  return new RegExp(`^${pattern.split("*").map(escapeRegExp).join(".*")}$`, "s").test(trimmed);
}

/** One program with plain words: nothing in it can start a second program or write a file. */
function isPlainCommand(command: string): boolean {
  return !/[;&|<>`$(){}\n\r\\!*?[\]~#'"]/.test(command.replace(/'[^'\n]*'/g, "")) && !/^\s*\w+=/.test(command);
}

function commandParts(command: string): string[] {
  const parts = command.split(/[;&|\n\r`(){}]|\$\(/).map((part) => part.replace(/^(?:\s|!|\w+=\S*\s)+/, "").trim());
  return [command, ...parts];
}

function globToRegExp(glob: string): RegExp {
  const source = glob.split(/(\*\*\/|\*\*|\*|\?)/).map((piece) => {
    if (piece === "**/") return "(?:.*/)?";
    if (piece === "**") return ".*";
    if (piece === "*") return "[^/]*";
    if (piece === "?") return "[^/]";
    return escapeRegExp(piece);
  });
  return new RegExp(`^${source.join("")}$`, "s");
}

function escapeRegExp(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\*]/g, "\\$&");
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}
