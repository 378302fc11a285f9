type Entry = { readonly head: string; readonly lines: string[]; readonly about: string[] };

/** From so many columns on, what stands there belongs to the line above. */
const deep = 20;
const below = 6;

/** A usage text for a narrow terminal: what an entry means stands below it where it does not fit beside it. */
export function narrowUsage(text: string, width: number): string {
  return entriesIn(text)
    .flatMap((entry) => (entry.lines.every((line) => line.length <= width) ? entry.lines : narrowed(entry, width)))
    .join("\n");
}

function entriesIn(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of text.split("\n")) {
    const last = entries.at(-1);
    const [, head = "", about] = /^(\s*\S.*?)(?: {2,}(\S.*))?$/.exec(line) ?? [];
    if (last && line.trim() !== "" && line.search(/\S/) >= deep) {
      last.lines.push(line);
      last.about.push(line.trim());
    } else entries.push({ head, lines: [line], about: about === undefined ? [] : [about] });
  }
  return entries;
}

function narrowed({ head, about }: Entry, width: number): string[] {
  const own = head.search(/\S/);
  return [
    ...wrapped(head.trim(), { first: own, rest: own + 4, width }),
    ...wrapped(about.join(" "), { first: below, rest: below, width }),
  ];
}

type Room = { readonly first: number; readonly rest: number; readonly width: number };

function wrapped(text: string, { first, rest, width }: Room): string[] {
  const lines: string[] = [];
  for (const word of text.match(/\[[^\]\s]*(?: [^\]\s]*)?\]\S*|\S+/g) ?? []) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(" ".repeat(first) + word);
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(" ".repeat(rest) + word);
  }
  return lines;
}
