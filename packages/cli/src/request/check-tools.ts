import { RuntimeError } from "@outrider/runtime";
import { checkRuleTool, unknownPreset, unknownTool, unofferedTool } from "@outrider/runtime/admin";
import type { FlagValues } from "../flags/flags.ts";
import { everyTool, presetsNamed } from "./session-request.ts";

type CheckedTools = { readonly allowedTools: readonly string[]; readonly warnings: readonly string[] };

/**
 * Tools that flags name, in rules and by themselves. A prohibition that is misspelled ends the run before it starts. A permission that names
 * nothing permits nothing: as Claude Code does, a program that was written for other tools goes on without it, and is told.
 */
export function checkTools(flags: FlagValues, isStrict: boolean): CheckedTools {
  const { allowedTools = [], disallowedTools = [] } = flags;
  const problems = new Map(allowedTools.filter(isRule).map((text) => [text, problemOf(text)]));
  const [first] = [...problems.values()].filter((problem) => problem !== undefined);
  if (isStrict && first) throw first;
  for (const name of presetsNamed(flags)) checkPreset(name);
  for (const text of disallowedTools.filter(isRule)) checkRuleTool(text, { where: "--disallowedTools", code: "usage" });
  return {
    allowedTools: allowedTools.filter((text) => problems.get(text) === undefined),
    warnings: [
      ...[...problems.values()].flatMap((problem) => (problem ? [`${problem.message}. This rule allows nothing`] : [])),
      ...(allowedTools.every(isRule) ? [] : [grantsNothing]),
      ...checkOffered(
        (flags.tools ?? []).filter((name) => name !== "" && name !== "default"),
        isStrict,
      ),
    ],
  };
}

function problemOf(rule: string): RuntimeError | undefined {
  try {
    checkRuleTool(rule, { where: "--allowedTools", code: "usage" });
    return undefined;
  } catch (error) {
    if (error instanceof RuntimeError) return error;
    throw error;
  }
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
function checkOffered(names: readonly string[], isStrict: boolean): string[] {
  const wrong = (problem: string): RuntimeError => new RuntimeError("usage", `--tools: ${problem}`);
  const problems: string[] = [];
  for (const name of names) {
    const bare = name.replace(/\(.*/s, "").trim();
    const problem = unofferedTool(bare);
    if (problem === undefined && bare !== name)
      throw wrong(`${name} is a rule; here tools are named without a pattern, and --allowedTools takes rules`);
    if (problem === undefined) continue;
    if (isStrict && unknownTool(bare) !== undefined) throw wrong(problem);
    problems.push(problem);
  }
  const [first] = problems;
  if (first !== undefined && problems.length === names.length) throw wrong(first);
  return problems.map((problem) => `--tools: ${problem}`);
}
