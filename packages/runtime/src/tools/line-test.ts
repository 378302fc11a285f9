import { inTime, TookTooLong } from "../util/in-time.ts";
import { ToolFailure } from "./tool.ts";

/** Longer lines are looked at up to here. */
const maxLineLength = 4_000;

/** Which of these lines match? What is no regular expression is looked for as it is. One that takes too long on them is a `ToolFailure`. */
export function createLineTest(pattern: string, name: string): (lines: readonly string[]) => string[] {
  const expression = new RegExp(isExpression(pattern) ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return (lines) => {
    try {
      return inTime(() => lines.filter((line) => expression.test(line.slice(0, maxLineLength))));
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error;
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
