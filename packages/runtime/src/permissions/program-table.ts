import { lookingRows } from "./looking-rows.ts";
import type { Row } from "./option-grammar.ts";
import { workingRows } from "./working-rows.ts";

const aliases: Readonly<Record<string, string>> = {
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  pnpm: "npm",
  yarn: "npm",
  fdfind: "fd",
  gmake: "make",
};

/** The grammar of a program; undefined for those nobody has written a row for. */
export function rowOf(name: string): Row | undefined {
  const known = Object.hasOwn(aliases, name) ? aliases[name] : name;
  return known === undefined ? undefined : rows.get(known);
}

/** Programs that look when nothing but harmless options are given. */
export function isLooker(name: string): boolean {
  return Object.hasOwn(lookingRows, name);
}

export function allRows(): ReadonlyMap<string, Row> {
  return rows;
}

const rows: ReadonlyMap<string, Row> = new Map([...Object.entries(lookingRows), ...Object.entries(workingRows)]);
