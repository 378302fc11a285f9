import { parseRule } from "./rules.ts";
import { isInterpreter, isLookedThrough, runsAnything } from "./interpreters.ts";
import { unknownTool } from "./tool-names.ts";
import { messageOf } from "../util/message-of.ts";

export type RuleProblem = { readonly level: "error" | "warning"; readonly message: string };

/** What its author may not have meant. `allowing`: the rule would stand in an allow list. */
export function lintRule(text: string, allowing = true): RuleProblem[] {
  let rule: ReturnType<typeof parseRule>;
  try {
    rule = parseRule(text);
  } catch (error) {
    return [{ level: "error", message: messageOf(error) }];
  }
  const { tool, pattern } = rule;
  const unknown = unknownTool(tool);
  if (unknown !== undefined) return [{ level: "error", message: unknown }];
  const warn = (message: string): RuleProblem[] => [{ level: "warning", message }];
  if (/^(?:Bash|Shell)$/.test(tool)) return lintCommand(pattern, allowing).flatMap(warn);
  if (pattern === undefined) return [];
  if (tool === "WebFetch" && !pattern.startsWith("domain:"))
    return warn(`It matches whole addresses; a host is written WebFetch(domain:${hostIn(pattern)})`);
  if (
    /^(?:Read|Edit|Write|MultiEdit|Glob|Grep)$/.test(tool) &&
    /^\/(?:etc|home|usr|var|tmp|Users|opt|root|proc|dev)\b/.test(pattern)
  )
    return warn(`It starts at the project; the root of the file system is written ${tool}(/${pattern})`);
  return [];
}

function lintCommand(pattern: string | undefined, allowing: boolean): string[] {
  if (pattern === undefined) return allowing ? ["It allows every command"] : [];
  const problems: string[] = [];
  const [name = ""] = pattern.replace(/:\*$/, "").split(/\s+/);
  const wild = /\*/.test(pattern.replaceAll("\\*", ""));
  const bare = name.slice(name.lastIndexOf("/") + 1).replace(/\*$/, "");
  if (allowing && wild && isWide(pattern, bare)) problems.push(widthOf(bare));
  if (wild && /[;&|<>`]|\$\(/.test(pattern))
    problems.push("Commands are matched part by part, so a pattern with operators and a wildcard allows nothing");
  return problems;
}

/** A rule for an interpreter with a script behind it is about that script. */
function isWide(pattern: string, name: string): boolean {
  return name === "" || (runsAnything(name) && (!isInterpreter(name) || /^\S+(?::\*|\s*\*)/.test(pattern)));
}

function widthOf(name: string): string {
  if (isLookedThrough(name)) return `It covers only what ${name} does itself: what it starts needs a rule of its own`;
  if (name === "make" || name === "docker" || name === "podman") return `${name} runs what files say, which may be anything`;
  return `${name || "*"} can run anything, so this is equal to Bash(*)`;
}

function hostIn(pattern: string): string {
  return /^(?:[a-z]+:\/\/)?([^/*]+)/i.exec(pattern)?.[1] ?? "example.org";
}
