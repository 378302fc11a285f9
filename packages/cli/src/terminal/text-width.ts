/** Columns that a text takes on a terminal: letters of East Asia and emoji take two, marks on the letter before them none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** At most so many columns, with a sign that something was left out. */
export function clip(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Lines of at most so many columns, broken between words; a word that is longer is broken too. */
export function wrap(text: string, columns: number): string[] {
  const limit = Math.max(8, columns);
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    let width = 0;
    for (const word of paragraph.split(" ").flatMap((long) => pieces(long, limit))) {
      const [longer, wide] = [line === "" ? word : `${line} ${word}`, textWidth(word)];
      const whole = line === "" ? wide : width + 1 + wide;
      if (whole <= limit) [line, width] = [longer, whole];
      else {
        lines.push(line);
        [line, width] = [word, wide];
      }
    }
    return [...lines, line];
  });
}

function pieces(word: string, columns: number): string[] {
  if (word.length * 2 <= columns) return [word]; // no letter takes more than two
  const parts: string[] = [];
  let part = "";
  let width = 0;
  for (const character of word) {
    const wide = widthOf(character);
    if (width + wide > columns) {
      parts.push(part);
      part = "";
      width = 0;
    }
    part += character;
    width += wide;
  }
  return [...parts, part];
}

export function widthOf(character: string): number {
  if (character < "\u0300") return 1;
  if (/^(?:\p{Mn}|\p{Me}|\p{Join_Control})/u.test(character)) return 0;
  return /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}])/u.test(
    character,
  )
    ? 2
    : 1;
}
