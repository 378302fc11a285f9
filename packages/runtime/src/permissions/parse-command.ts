import { messageOf } from "../util/message-of.ts";
import { Findings } from "./findings.ts";
import type { ParsedCommand } from "./parsed-command.ts";
import { ScriptReader } from "./script-reader.ts";
import { isNestedDeeper } from "./shell-syntax.ts";

const maxLength = 100_000;
const maxParentheses = 100;

/** The programs a bash command line would run, at any depth, and the files its redirections touch. Runs nothing, never throws. */
export function parseCommand(text: string): ParsedCommand {
  const findings = new Findings();
  try {
    if (text.length > maxLength) throw new RangeError(`it is longer than ${maxLength} characters`);
    if (isNestedDeeper(text, maxParentheses)) throw new RangeError("it is nested too deeply");
    new ScriptReader(findings).read(text);
  } catch (error) {
    // The stack of the parser has an end, too.
    findings.tooLarge(messageOf(error));
  }
  return findings.result();
}
