/** A command in the text of a skill, whose output is to stand in its place. */
export type EmbeddedCommand = {
  readonly command: string;
  /** What it is written as. */
  readonly written: string;
  readonly from: number;
  readonly to: number;
};

const inline = /(?<=^|\s)!`([^`\n]+)`/g;
const fenced = /^```![ \t]*\r?\n([\s\S]*?)^```[ \t]*$/gm;

/** Finds the commands of `` !`command` `` at the start of a word, and of blocks that begin with ```` ```! ````. Pure: nothing runs. */
export function preprocessShellCommands(text: string): EmbeddedCommand[] {
  const blocks = commandsOf(text, fenced);
  const isInBlock = ({ from }: EmbeddedCommand): boolean => blocks.some((block) => from >= block.from && from < block.to);
  const words = commandsOf(text, inline).filter((word) => !isInBlock(word));
  return [...blocks, ...words].sort((a, b) => a.from - b.from);
}

function commandsOf(text: string, pattern: RegExp): EmbeddedCommand[] {
  return [...text.matchAll(pattern)]
    .map((match) => {
      const [written, command = ""] = match;
      return { command: command.trim(), written, from: match.index, to: match.index + written.length };
    })
    .filter(({ command }) => command !== "");
}
