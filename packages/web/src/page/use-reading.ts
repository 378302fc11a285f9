import type { RefObject } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { isBad } from "../model/run-builder.ts";
import type { RunModel, Step } from "../model/run-model.ts";
import { openAtFirst } from "./outline.ts";
import { type Filter, findSteps, openedBy } from "./search.ts";
import type { Openings } from "./step.tsx";
import { useVirtual } from "./use-virtual.ts";

export const tabNames = ["steps", "changes", "cost", "permissions", "files"] as const;
export type TabName = (typeof tabNames)[number];
/** Printing puts every row into the page; beyond this it would never end. */
export const maxPrinted = 2000;

/** Where a reader is in a report: the tab, what is filtered and searched for, the selected step and what is open. */
export type Reading = {
  readonly tab: TabName;
  readonly filter: Filter;
  readonly query: string;
  readonly selected: number;
  readonly showsOutline: boolean;
  /** The steps that are left by the search and the filter, and which of them are in the page. */
  readonly shown: readonly Step[];
  readonly rows: ReturnType<typeof useVirtual>;
  readonly openings: Openings;
  setTab(name: TabName): void;
  setFilter(name: Filter): void;
  setQuery(text: string): void;
  showOutline(shows: boolean): void;
  clear(): void;
  select(step: number): void;
  move(by: number): void;
  moveToError(by: 1 | -1): void;
  expandAll(): void;
  toggleStep(): void;
  /** Goes where the address of the page leads. */
  follow(): void;
};

export function useReading(run: RunModel, list: RefObject<HTMLElement | null>, isPrinting: boolean): Reading {
  const [tab, setTab] = useState<TabName>("steps");
  const [filter, setFilter] = useState<Filter>("all");
  const [query, setQuery] = useState(() => new URLSearchParams(location.hash.split("&").slice(1).join("&")).get("q") ?? "");
  const [selected, setSelected] = useState(0);
  const [open, setOpen] = useState(() => openAtFirst(run.steps));
  const [showsOutline, showOutline] = useState(false);
  const shown = useMemo(() => findSteps(run.steps, filter, query), [run, filter, query]);
  const found = useMemo(() => new Set(query.trim() === "" ? [] : shown.flatMap((step) => openedBy(step, query))), [shown, query]);
  const rowKeys = useMemo(() => shown.map((step) => String(step.n)), [shown]);
  const rows = useVirtual(rowKeys, (at) => guessHeight(shown[at]), list, isPrinting && shown.length <= maxPrinted);
  const latestRows = useRef(rows);
  latestRows.current = rows;
  const openings: Openings = {
    isOpen: (key) => open.has(key) || found.has(key),
    toggle: (key) => setOpen((now) => toggled(now, key)),
  };

  const select = (step: number, how: "start" | "nearest" = "nearest"): void => {
    setSelected(step);
    const at = shown.findIndex((one) => one.n === step);
    const row = document.getElementById(`step-${step}`);
    if (row) row.scrollIntoView({ block: how });
    else if (at >= 0) rows.scrollTo(at);
  };
  const move = (by: number): void => {
    const at = shown.findIndex((step) => step.n === selected);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next) select(next.n);
  };
  const moveToError = (by: 1 | -1): void => {
    const rest = by === 1 ? shown.filter((step) => step.n > selected) : shown.filter((step) => step.n < selected).reverse();
    const next = rest.find((step) => step.calls.some(isBad));
    if (!next) return;
    setTab("steps");
    setOpen(
      (now) => new Set([...now, ...next.calls.flatMap((call, at) => (isBad(call) ? [`step-${next.n}-call-${at + 1}`] : []))]),
    );
    select(next.n);
  };
  const expandAll = (): void =>
    setOpen((now) => (now.size > 0 && allKeys(run).every((key) => now.has(key)) ? new Set() : new Set(allKeys(run))));
  const toggleStep = (): void => {
    const own = allKeys(run).filter((key) => key.startsWith(`step-${selected}-`));
    setOpen((now) =>
      own.every((key) => now.has(key)) ? new Set([...now].filter((key) => !own.includes(key))) : new Set([...now, ...own]),
    );
  };

  // A link names a step, a call of it, a file or a tab: what hides it gives way.
  const follow = (): void => {
    const [name = ""] = decodeURIComponent(location.hash.slice(1)).split("&");
    const step = /^step-(\d+)/.exec(name);
    if (/^file-\d+$/.test(name)) setTab("changes");
    else if ((tabNames as readonly string[]).includes(name)) setTab(name as TabName);
    if (!step) return;
    const n = Number(step[1]);
    setTab("steps");
    if (!shown.some((one) => one.n === n)) {
      setFilter("all");
      setQuery("");
    }
    if (name !== step[0]) setOpen((now) => new Set([...now, ...prefixes(name)]));
    setSelected(n);
    const at = run.steps.findIndex((one) => one.n === n);
    requestAnimationFrame(() => settle(name, `step-${n}`, () => latestRows.current.scrollTo(at)));
  };
  const clear = (): void => {
    setQuery("");
    setFilter("all");
  };
  return {
    ...{ tab, filter, query, selected, showsOutline, shown, rows, openings },
    ...{ setTab, setFilter, setQuery, showOutline, clear, select, move, moveToError, expandAll, toggleStep, follow },
  };
}

/** For so many pictures the place of a row that was only guessed is looked for again: half a second. */
const mostLooks = 30;

/** Rows that come into the page are higher or lower than was guessed: the target is looked for until all around it are measured. */
function settle(name: string, row: string, getNear: () => void, looks = 0): void {
  const target = document.getElementById(name) ?? document.getElementById(row);
  if (target) target.scrollIntoView({ block: "start" });
  else getNear();
  if (looks < mostLooks) requestAnimationFrame(() => settle(name, row, getNear, looks + 1));
}

function toggled(set: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

function allKeys(run: RunModel): string[] {
  return run.steps.flatMap((step) => [
    ...(step.reasoning ? [`step-${step.n}-reasoning`] : []),
    ...step.calls.map((_, at) => `step-${step.n}-call-${at + 1}`),
  ]);
}

/** `step-13-call-2-…`: the call itself and whatever it lies in. */
function prefixes(name: string): string[] {
  const parts = name.split("-");
  return parts.map((_, at) => parts.slice(0, at + 1).join("-"));
}

function guessHeight(step: RunModel["steps"][number] | undefined): number {
  if (!step) return 33;
  if (step.kind === "rule") return 33;
  const prose = step.text ? 44 + 22 * Math.min(30, Math.ceil(step.text.text.length / 90)) : 5;
  return prose + step.calls.length * 29 + (step.calls.length > 1 ? 22 : 0);
}
