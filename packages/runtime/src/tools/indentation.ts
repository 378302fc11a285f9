/** How the indentation of a text differs from that of the file it was taken from. */
export type Indentation = {
  readonly type: "same" | "deeper" | "flatter" | "other";
  /** White space that the text lacks (`deeper`) or has too much (`flatter`) on every line. */
  readonly shift: string;
  /** A line of the text, indented as the file is; undefined where it is not clear how. */
  apply(line: string): string | undefined;
};

/** Lines of the text, each with its line in the file. Undefined where lines that are indented alike stand at different depths in the file. */
export function readIndentation(pairs: readonly (readonly [line: string, inFile: string])[]): Indentation | undefined {
  const known = new Map<string, string>();
  for (const [line, inFile] of pairs) {
    if (line.trim() === "") continue;
    const from = indentOf(line);
    const to = indentOf(inFile);
    if ((known.get(from) ?? to) !== to) return undefined;
    known.set(from, to);
  }
  return uniform(known) ?? inUnits(known) ?? asKnown(known);
}

export function describeIndentation({ type, shift }: Indentation): string {
  switch (type) {
    case "same":
      return "Only the ends of lines differed.";
    case "deeper":
      return `It lacks ${inWords(shift)} before every line; new_string got them too.`;
    case "flatter":
      return `It has ${inWords(shift)} too many before every line; they were taken from new_string too.`;
    case "other":
      return "new_string was indented like those lines.";
  }
}

/** The same white space more or less on every line. */
function uniform(known: ReadonlyMap<string, string>): Indentation | undefined {
  const [first] = known;
  if (!first) return undefined;
  const [from, to] = first;
  if (to.endsWith(from)) {
    const shift = to.slice(0, to.length - from.length);
    if (![...known].every(([line, inFile]) => inFile === shift + line)) return undefined;
    return { type: shift === "" ? "same" : "deeper", shift, apply: (line) => (line.trim() === "" ? line : shift + line) };
  }
  if (!from.endsWith(to)) return undefined;
  const shift = from.slice(0, from.length - to.length);
  if (![...known].every(([line, inFile]) => line === shift + inFile)) return undefined;
  const apply = (line: string): string | undefined => {
    if (line.trim() === "") return line;
    return line.startsWith(shift) ? line.slice(shift.length) : undefined;
  };
  return { type: "flatter", shift, apply };
}

const units = ["\t", ...[8, 4, 3, 2, 1].map((count) => " ".repeat(count))];

/** Tabs for a number of spaces, or the other way round, or another number of spaces. */
function inUnits(known: ReadonlyMap<string, string>): Indentation | undefined {
  for (const unit of units) {
    for (const other of units) {
      const convert = (indent: string): string | undefined => {
        const times = indent.length / unit.length;
        return unit.repeat(Math.floor(times)) === indent ? other.repeat(times) : undefined;
      };
      if ([...known].every(([from, to]) => convert(from) === to)) return { type: "other", shift: "", apply: withIndent(convert) };
    }
  }
  return undefined;
}

function asKnown(known: ReadonlyMap<string, string>): Indentation {
  return { type: "other", shift: "", apply: withIndent((indent) => known.get(indent)) };
}

function withIndent(convert: (indent: string) => string | undefined): Indentation["apply"] {
  return (line) => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    const converted = convert(indent);
    return converted === undefined ? undefined : converted + line.slice(indent.length);
  };
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

function inWords(shift: string): string {
  if (/^\t+$/.test(shift)) return shift.length === 1 ? "1 tab" : `${shift.length} tabs`;
  if (/^ +$/.test(shift)) return shift.length === 1 ? "1 space" : `${shift.length} spaces`;
  return "characters of white space";
}
