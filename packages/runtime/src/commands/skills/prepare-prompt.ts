import { findReferences } from "../../context/references.ts";
import { type EmbeddedCommand, preprocessShellCommands } from "./shell-commands.ts";
import { type SkillPromptContext, substitute, unaskedArguments } from "./substitute.ts";

/** A stretch of the prompt: text as it is, or a command whose output stands there. */
export type PromptPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "command"; readonly command: string; readonly written: string };

export type PreparedPrompt = {
  readonly pieces: readonly PromptPiece[];
  /** Files that the text names with `@`, in their order, each once. */
  readonly files: readonly string[];
};

/**
 * The body of a skill with its arguments. Commands and files are looked for in what its author wrote, before anything is put in: an argument
 * that looks like one is text.
 */
export function preparePrompt(body: string, context: SkillPromptContext): PreparedPrompt {
  let asked = false;
  const fill = (text: string): string => {
    const made = substitute(text, context);
    asked ||= made.asked;
    return made.text;
  };
  const files = new Set<string>();
  const text = (written: string): PromptPiece => {
    for (const reference of findReferences(written)) files.add(fill(reference.written));
    return { type: "text", text: fill(written) };
  };
  const pieces: PromptPiece[] = [];
  let last = 0;
  for (const { command, written, from, to } of preprocessShellCommands(body)) {
    pieces.push(text(body.slice(last, from)), toCommand({ command, written }, fill));
    last = to;
  }
  pieces.push(text(body.slice(last)));
  if (!asked) pieces.push({ type: "text", text: unaskedArguments(context) });
  return { pieces: pieces.filter((piece) => piece.type === "command" || piece.text !== ""), files: [...files].filter(Boolean) };
}

function toCommand(
  { command, written }: Pick<EmbeddedCommand, "command" | "written">,
  fill: (text: string) => string,
): PromptPiece {
  return { type: "command", command: fill(command), written };
}
