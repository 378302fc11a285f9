/** A command in the text of a skill, whose output is to stand in its place. */
export type EmbeddedCommand = {
  readonly command: string;
  /** What it is written as. */
  readonly written: string;
  readonly from: number;
  readonly to: number;
};

const inline = /(?<=^|\s)!`([^`\n]+)`/g;
const blockBegin = /^```![ \t]*\r?\n/gm;
const blockEnd = /^```[ \t]*$/gm;

/** Finds the commands of `` !`command` `` at the start of a word, and of blocks that begin with ```` ```! ````. Pure: nothing runs. */
export function preprocessShellCommands(text: string): EmbeddedCommand[] {
  const words = [...text.matchAll(inline)].map((match) => toCommand(match[1], match.index, match[0]));
  const found = [...blocksOf(text), ...words].filter(({ command }) => command !== "").sort((a, b) => a.from - b.from);
  let end = 0; // of the command before: words in a block are part of it
  return found.filter(({ from, to }) => {
    if (from < end) return false;
    end = to;
    return true;
  });
}

/** Begins and ends are each looked for once, so that a text of nothing but begins takes no longer than any other. */
function blocksOf(text: string): EmbeddedCommand[] {
  const ends = text.matchAll(blockEnd);
  const blocks: EmbeddedCommand[] = [];
  let end = ends.next().value;
  let to = 0;
  for (const { index: from, 0: first } of text.matchAll(blockBegin)) {
    if (from < to) continue; // inside the block before
    const start = from + first.length;
    while (end && end.index < start) end = ends.next().value;
    if (!end) break;
    to = end.index + end[0].length;
    blocks.push(toCommand(text.slice(start, end.index), from, text.slice(from, to)));
  }
  return blocks;
}

function toCommand(command = "", from: number, written: string): EmbeddedCommand {
  return { command: command.trim(), written, from, to: from + written.length };
}
