import { RuntimeError } from "@outrider/runtime";
import { checkRuleTool, unknownPreset, unknownTool, unofferedTool } from "@outrider/runtime/admin";
import type { FlagValues } from "../flags/flags.ts";
import { everyTool, presetsNamed } from "./session-request.ts";

/**
 * Tools that flags name, in rules and by themselves. A misspelled name ends the run before it starts; a name in `--tools` that only other
 * programs have a tool for is answered as a warning.
 */
export function checkTools(flags: FlagValues): string[] {
  const { allowedTools = [], disallowedTools = [] } = flags;
  for (const text of allowedTools.filter(isRule)) checkRuleTool(text, { where: "--allowedTools", code: "usage" });
  for (const name of presetsNamed(flags)) checkPreset(name);
  for (const text of disallowedTools.filter(isRule)) checkRuleTool(text, { where: "--disallowedTools", code: "usage" });
  return [
    ...(allowedTools.every(isRule) ? [] : [grantsNothing]),
    ...checkOffered((flags.tools ?? []).filter((name) => name !== "" && name !== "default")),
  ];
}

function isRule(text: string): boolean {
  return text !== everyTool;
}

const grantsNothing =
  "--allowedTools: * allows nothing; name the tools, or let --permission-mode bypassPermissions allow everything";

function checkPreset(name: string): void {
  const problem = unknownPreset(name);
  if (problem !== undefined)
    throw new RuntimeError("usage", `--allow: ${problem}`, {
      hint: "outrider permissions presets shows what each stands for; rules go to --allowedTools",
    });
}

/** In a list that offers something, a name from elsewhere may stay: programs that were written for others pass them all. */
function checkOffered(names: readonly string[]): string[] {
  const wrong = (problem: string): RuntimeError => new RuntimeError("usage", `--tools: ${problem}`);
  const problems: string[] = [];
  for (const name of names) {
    const bare = name.replace(/\(.*/s, "").trim();
    const problem = unofferedTool(bare);
    if (problem === undefined && bare !== name)
      throw wrong(`${name} is a rule; here tools are named without a pattern, and --allowedTools takes rules`);
    if (problem === undefined) continue;
    if (unknownTool(bare) !== undefined) throw wrong(problem);
    problems.push(problem);
  }
  const [first] = problems;
  if (first !== undefined && problems.length === names.length) throw wrong(first);
  return problems.map((problem) => `--tools: ${problem}`);
}
