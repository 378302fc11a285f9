// One text that holds them all: each mutant sleeps behind a question to the run, so that nothing is built anew for the next one.

/** `$mutant(id)` is true for the one that the run was started with. */
export function plantMutants(text, mutants) {
  const root = { start: 0, end: text.length, own: [], children: [] };
  const places = new Map();
  for (const mutant of mutants) {
    const name = `${mutant.start}-${mutant.end}`;
    const place = places.get(name) ?? { start: mutant.start, end: mutant.end, own: [], children: [] };
    place.own.push(mutant);
    places.set(name, place);
  }
  const sorted = [...places.values()].sort((a, b) => a.start - b.start || b.end - a.end);
  const open = [root];
  for (const place of sorted) {
    while (open.at(-1).end < place.end || open.at(-1).end <= place.start) open.pop();
    open.at(-1).children.push(place);
    open.push(place);
  }
  return write(root, text);
}

function write(place, text) {
  let inner = "";
  let at = place.start;
  for (const child of place.children) {
    inner += text.slice(at, child.start) + write(child, text);
    at = child.end;
  }
  inner += text.slice(at, place.end);
  return place.own.reduce(wake, inner);
}

function wake(written, { id, kind, code }) {
  if (kind === "statement") return `{ if (!$mutant("${id}")) ${written} }`;
  return `($mutant("${id}") ? (${code}) : (${written}))`;
}
