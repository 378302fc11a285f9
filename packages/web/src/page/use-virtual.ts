import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

/** Shorter lists are put into the page whole: a browser's own search finds everything then. */
const wholeUpTo = 300;
const beyond = 12;

type Window = { readonly from: number; readonly to: number; readonly above: number; readonly below: number };

/**
 * Which rows of a long list are in the page, and how much room the others take above and below. Heights are guessed until a row was seen.
 * `list` holds one element per row, in their order, between the two spacers.
 */
export function useVirtual(
  keys: readonly string[],
  guess: (at: number) => number,
  list: RefObject<HTMLElement | null>,
  isPrinting: boolean,
): Window & { scrollTo: (at: number) => void } {
  const heights = useRef(new Map<string, number>());
  const [scroll, setScroll] = useState({ top: 0, height: 900, turn: 0 });
  const isWhole = keys.length <= wholeUpTo || isPrinting;
  const tops = useMemo(() => {
    const all = new Float64Array(keys.length + 1);
    for (const [at, key] of keys.entries()) all[at + 1] = (all[at] ?? 0) + (heights.current.get(key) ?? guess(at));
    return all;
  }, [keys, scroll.turn]);
  const found = isWhole ? { from: 0, to: keys.length } : rangeAt(tops, scroll);

  useLayoutEffect(() => {
    if (isWhole) return;
    const read = (): void => {
      const box = list.current?.getBoundingClientRect();
      if (box) setScroll((now) => ({ ...now, top: -box.top, height: innerHeight }));
    };
    let asked = 0;
    const onScroll = (): void => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        read();
      });
    };
    read();
    addEventListener("scroll", onScroll, { passive: true });
    addEventListener("resize", onScroll);
    return () => {
      cancelAnimationFrame(asked);
      removeEventListener("scroll", onScroll);
      removeEventListener("resize", onScroll);
    };
  }, [isWhole, list]);

  // What is seen is measured; what differs moves the rows below it, and the page by as much when it is above what is read.
  useLayoutEffect(() => {
    if (isWhole || !list.current) return;
    let moved = 0;
    let changed = false;
    const rows = list.current.querySelectorAll<HTMLElement>(":scope > [data-n]");
    for (const [index, row] of [...rows].entries()) {
      const at = found.from + index;
      const key = keys[at];
      if (key === undefined) continue;
      const height = row.getBoundingClientRect().height;
      const before = heights.current.get(key) ?? guess(at);
      if (Math.abs(height - before) < 1) continue;
      heights.current.set(key, height);
      changed = true;
      if ((tops[at] ?? 0) + before < scroll.top) moved += height - before;
    }
    if (moved !== 0) scrollBy(0, moved);
    if (changed) setScroll((now) => ({ ...now, turn: now.turn + 1 }));
  });

  const scrollTo = (at: number): void => {
    const box = list.current?.getBoundingClientRect();
    if (!isWhole && box) window.scrollTo({ top: scrollY + box.top + (tops[at] ?? 0) - 100 });
  };
  const total = tops[keys.length] ?? 0;
  return { ...found, above: isWhole ? 0 : (tops[found.from] ?? 0), below: isWhole ? 0 : total - (tops[found.to] ?? 0), scrollTo };
}

function rangeAt(tops: Float64Array, { top, height }: { top: number; height: number }): { from: number; to: number } {
  const last = tops.length - 1;
  const first = Math.max(0, lowerBound(tops, top) - 1);
  const end = lowerBound(tops, top + height);
  return { from: Math.max(0, first - beyond), to: Math.min(last, end + beyond) };
}

function lowerBound(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
