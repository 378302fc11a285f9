import { ToolFailure } from "./tool.ts";

/** Longer lines are looked at up to here. */
const maxLineLength = 4_000;
/** For one look: an expression that tries for ever must not hold everything else. */
const limitMs = 200;

/** Does one of these lines match? What is no regular expression is looked for as it is. */
export function createLineTest(pattern: string, name: string): (lines: readonly string[]) => boolean {
  const source = isExpression(pattern) ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const vm = process.getBuiltinModule("node:vm");
  const context = vm.createContext({ source, lines: "" });
  const run = new vm.Script("JSON.parse(lines).some((line) => test.test(line))");
  vm.runInContext("var test = new RegExp(source)", context);
  return (lines) => {
    context["lines"] = JSON.stringify(lines.map((line) => line.slice(0, maxLineLength)));
    try {
      return run.runInContext(context, { timeout: limitMs }) === true;
    } catch (error) {
      throw new ToolFailure(`${name} took too long on the output of this task; use a simpler expression.`, { cause: error });
    }
  };
}

export function isExpression(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}
