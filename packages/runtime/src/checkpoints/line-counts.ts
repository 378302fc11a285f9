export type LineCounts = { readonly insertions: number; readonly deletions: number };

/** Beyond this many changed lines the shortest way is no longer looked for, and the whole middle counts as replaced. */
const maxDistance = 2000;

/** How many lines a change adds and removes, as `git diff --stat` would count them. */
export function countChangedLines(before: string, after: string): LineCounts {
  const old = toLines(before);
  const fresh = toLines(after);
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let same = 0;
  while (same < Math.min(old.length, fresh.length) - start && old.at(-1 - same) === fresh.at(-1 - same)) same++;
  const from = old.slice(start, old.length - same);
  const to = fresh.slice(start, fresh.length - same);
  const distance = editDistance(from, to) ?? from.length + to.length;
  // Every line of a shortest way is an insertion or a deletion, and their difference is that of the lengths.
  return { insertions: (distance + to.length - from.length) / 2, deletions: (distance - to.length + from.length) / 2 };
}

function toLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Myers' greedy search for the fewest lines removed and added; undefined when that would cost too much. */
function editDistance(from: readonly string[], to: readonly string[]): number | undefined {
  const limit = Math.min(from.length + to.length, maxDistance);
  const furthest = new Int32Array(2 * limit + 3);
  const reached = (diagonal: number): number => furthest[diagonal + limit + 1] ?? 0;
  for (let distance = 0; distance <= limit; distance++) {
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const down = diagonal === -distance || (diagonal !== distance && reached(diagonal - 1) < reached(diagonal + 1));
      let x = down ? reached(diagonal + 1) : reached(diagonal - 1) + 1;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x++;
      furthest[diagonal + limit + 1] = x;
      if (x >= from.length && x - diagonal >= to.length) return distance;
    }
  }
  return undefined;
}
