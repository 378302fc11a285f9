import type { Answer } from "../permissions/gate.ts";
import { anyText, checkValue, having, needed, shape, text } from "../protocol/kinds.ts";
import type { PermissionRequest } from "../session/session-view.ts";

/** Where a person is asked: a terminal, or whatever stands for one. */
export interface TerminalOutput {
  writeLine(text: string): void;
  /** Answers the index of what was chosen; undefined when nobody chose. */
  select(options: readonly string[], initialIndex?: number): Promise<number | undefined>;
}

const choices: readonly { readonly text: string; readonly answer: Answer }[] = [
  { text: "Allow", answer: { decision: "allow" } },
  { text: "Allow this for the whole session", answer: { decision: "allow", remember: "session" } },
  { text: "Deny", answer: { decision: "deny", message: "The user said no." } },
];
const denied: Answer = { decision: "deny", message: "Nobody answered the question." };
const longestInput = 2_000;

/**
 * Asks a person about a call, and answers what `session.answerPermission` takes. What the model wrote is shown so that it cannot rewrite the
 * terminal. Nobody there is a no.
 */
export async function promptForApproval(
  terminal: TerminalOutput,
  request: Pick<PermissionRequest, "toolName" | "reason"> & { readonly input: unknown },
): Promise<Answer> {
  checkValue("terminal", terminal, having(["writeLine", "select"], "a terminal, such as createTerminalOutput() makes"));
  checkValue("request", request, shape({ toolName: needed(text), reason: needed(anyText) }, "what permission_request tells"));
  const { toolName, input, reason } = request;
  const shown = visible(JSON.stringify(input) ?? "");
  terminal.writeLine(`${visible(toolName)}: ${shown.slice(0, longestInput)}${shown.length > longestInput ? " …" : ""}`);
  terminal.writeLine(`Asked because ${visible(reason)}.`);
  const chosen = await terminal.select(
    choices.map(({ text }) => text),
    choices.length - 1,
  );
  return choices[chosen ?? -1]?.answer ?? denied;
}

/** A terminal on two streams; those of the process when absent. The person types a number, and nothing means the initial one. */
export function createTerminalOutput({
  input = process.stdin,
  output = process.stderr,
}: {
  readonly input?: NodeJS.ReadableStream;
  readonly output?: NodeJS.WritableStream;
} = {}): TerminalOutput {
  const writeLine = (text: string): void => void output.write(`${text}\n`);
  return {
    writeLine,
    async select(options, initialIndex = 0) {
      options.forEach((option, index) => {
        writeLine(`  ${index + 1}. ${option}`);
      });
      if ("readableEnded" in input && input.readableEnded === true) return undefined; // it would never say so again
      const { createInterface } = process.getBuiltinModule("node:readline");
      const lines = createInterface({ input, output, terminal: false });
      output.write(`Which? [${initialIndex + 1}] `);
      try {
        for await (const line of lines) {
          const number = line.trim() === "" ? initialIndex + 1 : Number(line);
          if (options[number - 1] !== undefined) return number - 1;
          output.write(`A number from 1 to ${options.length}: `);
        }
        return undefined;
      } finally {
        lines.close();
      }
    },
  };
}

function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029\ud800-\udfff]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
