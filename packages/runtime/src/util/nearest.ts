/** The candidate closest to what was typed, if it is close enough to be what was meant. */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(typed.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(typed.toLowerCase(), candidate.toLowerCase());
    if (distance > limit || (best && distance >= best.distance)) continue;
    // Two wrong letters of four are another word, unless they are swapped.
    if (typed.length > 4 || distance < 2 || lettersOf(typed) === lettersOf(candidate)) best = { candidate, distance };
  }
  return best?.candidate;
}

function lettersOf(word: string): string {
  return [...word.toLowerCase()].toSorted().join("");
}

/** How many letters have to be changed, added or taken away. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
