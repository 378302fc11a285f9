import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isBad } from "../model/run-builder.ts";
import type { RunModel } from "../model/run-model.ts";
import { CostTab } from "./cost-tab.tsx";
import { OutcomeHead, Strip } from "./header.tsx";
import { Icon, Mark, Patterns } from "./icons.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { CopyButton } from "./output.tsx";
import { openAtFirst, outlineOf } from "./outline.ts";
import { type Filter, findSteps, markFound, openedBy } from "./search.ts";
import { type Openings, StepRow } from "./step.tsx";
import { ChangesTab, FilesTab, PermissionsTab } from "./tabs.tsx";
import { plain } from "./text.tsx";
import { nextTheme } from "./theme.ts";
import { Timeline } from "./timeline.tsx";
import { toMarkdown } from "./to-markdown.ts";
import { useVirtual } from "./use-virtual.ts";

const tabNames = ["steps", "changes", "cost", "permissions", "files"] as const;
type TabName = (typeof tabNames)[number];
const filters: readonly (readonly [Filter, string])[] = [
  ["all", "All"],
  ["message", "Messages"],
  ["tool", "Tools"],
  ["subagent", "Subagents"],
  ["error", "Errors"],
];
/** Printing puts every row into the page; beyond this it would never end. */
const maxPrinted = 2000;

/** `download` is the same run as an ATIF trajectory, where the page has it. */
export function ReportPage({ run, download }: { run: RunModel; download?: (() => string) | undefined }): JSX.Element {
  const [tab, setTab] = useState<TabName>("steps");
  const [filter, setFilter] = useState<Filter>("all");
  const [query, setQuery] = useState(() => new URLSearchParams(location.hash.split("&").slice(1).join("&")).get("q") ?? "");
  const [selected, setSelected] = useState(0);
  const [open, setOpen] = useState(() => openAtFirst(run.steps));
  const [isPrinting, setPrinting] = useState(false);
  const [showsOutline, showOutline] = useState(false);
  const keys = useRef<HTMLDialogElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => findSteps(run.steps, filter, query), [run, filter, query]);
  const found = useMemo(() => new Set(query.trim() === "" ? [] : shown.flatMap((step) => openedBy(step, query))), [shown, query]);
  const outline = useMemo(() => outlineOf(run), [run]);
  const rowKeys = useMemo(() => shown.map((step) => String(step.n)), [shown]);
  const rows = useVirtual(rowKeys, (at) => guessHeight(shown[at]), list, isPrinting && shown.length <= maxPrinted);
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
    requestAnimationFrame(() => {
      const target = document.getElementById(name) ?? document.getElementById(`step-${n}`);
      if (target) target.scrollIntoView({ block: "start" });
      else rows.scrollTo(run.steps.findIndex((one) => one.n === n));
    });
  };
  const latest = useRef({ follow, move, moveToError, expandAll, toggleStep });
  latest.current = { follow, move, moveToError, expandAll, toggleStep };

  useEffect(() => {
    const onHash = (): void => latest.current.follow();
    if (location.hash) onHash();
    addEventListener("hashchange", onHash);
    const before = (): void => setPrinting(true);
    const after = (): void => setPrinting(false);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    const printing = matchMedia("print");
    printing.addEventListener("change", ({ matches }) => setPrinting(matches));
    return () => {
      removeEventListener("hashchange", onHash);
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
        if (event.key !== "Escape") return;
        setQuery("");
        target.blur();
        return;
      }
      const now = latest.current;
      const number = Number(event.key);
      const act: (() => void) | undefined = {
        j: () => now.move(1),
        k: () => now.move(-1),
        e: () => now.moveToError(1),
        E: () => now.moveToError(-1),
        o: () => now.toggleStep(),
        x: () => now.expandAll(),
        t: () => nextTheme(),
        "/": () => search.current?.focus(),
        "?": () => keys.current?.showModal(),
        y: () => copyLink(),
        Escape: () => {
          setQuery("");
          setFilter("all");
          showOutline(false);
        },
      }[event.key];
      const chosen = tabNames[number - 1];
      if (!act && !(chosen && number >= 1)) return;
      event.preventDefault();
      if (act) act();
      else if (chosen) setTab(chosen);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  useLayoutEffect(() => markFound(list.current, tab === "steps" ? query : ""));

  const counts: Partial<Record<TabName, number>> = {
    steps: run.steps.length,
    changes: run.files.length,
    permissions: run.permissions.length,
  };
  const chooseTab = (name: TabName, focus = false): void => {
    setTab(name);
    if (focus) document.getElementById(`t-${name}`)?.focus();
  };
  const onTabKey = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    chooseTab(tabNames[(tabNames.indexOf(tab) + by + tabNames.length) % tabNames.length] ?? "steps", true);
  };
  const panel = (name: TabName, children: () => JSX.Element): JSX.Element => (
    <div role="tabpanel" id={`p-${name}`} aria-labelledby={`t-${name}`} hidden={tab !== name && !isPrinting}>
      {(tab === name || isPrinting) && children()}
    </div>
  );
  return (
    <>
      <Patterns />
      <a class="skip" href="#bar">
        Skip to the steps
      </a>
      <header class="top">
        <span class="brand">
          <Mark />
          Outrider
        </span>
        <nav class="crumb" aria-label="Path">
          {run.cwd && <span class="hide-s">{plain(run.cwd.split("/").at(-1) ?? "")}</span>}
          <b title={run.id}>{plain(run.title ?? run.id.slice(0, 8))}</b>
        </nav>
        <span class="grow" />
        <span class="hide-s">
          <CopyButton label="Copy as Markdown" text={() => toMarkdown(run)} />
        </span>
        {download && <Download make={download} name={`${run.id}.json`} />}
        <button type="button" class="btn btn-quiet btn-i" aria-label="Change theme" onClick={() => nextTheme()}>
          <Icon name="theme" />
        </button>
        <button
          type="button"
          class="btn btn-quiet btn-i"
          aria-label="Keyboard shortcuts"
          onClick={() => keys.current?.showModal()}
        >
          <kbd class="kbd">?</kbd>
        </button>
      </header>
      <main class="page" id="main">
        <OutcomeHead run={run} />
        <Strip run={run} />
        <Timeline run={run} selected={selected} choose={(step) => select(step)} />
        <div class="bar" id="bar" tabIndex={-1}>
          <div class="tabs" role="tablist" aria-label="Report" onKeyDown={onTabKey}>
            {tabNames.map((name) => (
              <button
                type="button"
                role="tab"
                id={`t-${name}`}
                aria-controls={`p-${name}`}
                aria-selected={tab === name}
                tabIndex={tab === name ? 0 : -1}
                onClick={() => chooseTab(name)}
              >
                {name[0]?.toUpperCase()}
                {name.slice(1)} {counts[name] !== undefined && <span class="n">{counts[name]}</span>}
              </button>
            ))}
          </div>
        </div>
        {panel("steps", () => (
          <div class={`cols${showsOutline ? " show-o" : ""}`}>
            <div class="col-m">
              <h2 class="sr">Steps</h2>
              <div class="filter" role="search">
                <label class="field">
                  <span class="sr">Search the run</span>
                  <Icon name="search" class="i-s" />
                  <input
                    ref={search}
                    type="search"
                    placeholder="Search this run"
                    title="It searches everything, also what is closed. The browser's own search sees only the rows on the screen in runs of over 300 steps."
                    autocomplete="off"
                    value={query}
                    onInput={(event) => setQuery(event.currentTarget.value)}
                  />
                  <kbd class="kbd">/</kbd>
                </label>
                <div class="chips" role="group" aria-label="Show">
                  {filters.map(([name, word]) => (
                    <button type="button" class="chip" aria-pressed={filter === name} onClick={() => setFilter(name)}>
                      {name === "error" && <Icon name="error" class="i-s c-error" />}
                      {word} {name === "error" && <span class="n">{run.totals.errors}</span>}
                    </button>
                  ))}
                </div>
                <span class="grow" />
                <button
                  type="button"
                  class="btn btn-quiet only-m"
                  aria-expanded={showsOutline}
                  aria-controls="outline"
                  onClick={() => showOutline(!showsOutline)}
                >
                  Outline
                </button>
                <span class="dimmer" role="status">
                  {shown.length === run.steps.length ? "" : `${shown.length} of ${run.steps.length} steps`}
                </span>
                <button type="button" class="btn btn-quiet" disabled={run.totals.errors === 0} onClick={() => moveToError(1)}>
                  Next error <kbd class="kbd">e</kbd>
                </button>
                <button type="button" class="btn btn-quiet" onClick={expandAll}>
                  Expand all
                </button>
              </div>
              <div class="steps">
                <div class="steps-h" aria-hidden="true">
                  <span />
                  <span />
                  <span class="meta">
                    <span>At</span>
                    <span>Took</span>
                    <span>Cost</span>
                  </span>
                </div>
                <div ref={list}>
                  <div style={{ height: `${rows.above}px` }} />
                  {shown.slice(rows.from, rows.to).map((step, at) => (
                    <StepRow
                      key={step.n}
                      step={step}
                      openings={openings}
                      isSelected={step.n === selected}
                      place={{ of: shown.length, at: rows.from + at + 1 }}
                    />
                  ))}
                  <div style={{ height: `${rows.below}px` }} />
                </div>
              </div>
              {shown.length === 0 && (
                <div class="empty">
                  <b>No step matches.</b>
                  {run.steps.length} steps are hidden by the search and the filter.
                  <br />
                  <button
                    type="button"
                    class="btn"
                    onClick={() => {
                      setQuery("");
                      setFilter("all");
                    }}
                  >
                    Clear search and filter
                  </button>
                </div>
              )}
              <p class="foot">
                <Icon name="info" class="i-s" />
                <span>
                  {plain(run.notes.join(" "))} {plain(run.agent)}, session {plain(run.id)}.
                  {isPrinting && shown.length > maxPrinted
                    ? ` Only the rows on the screen are printed: ${shown.length} are too many.`
                    : ""}
                </span>
              </p>
            </div>
            <nav class="col-o" id="outline" aria-label="Outline">
              <div class="ol-in">
                <h2>Outline</h2>
                <ol>
                  {outline.map((entry) => (
                    <li>
                      <a
                        href={`#step-${entry.step}`}
                        class={entry.icon === "error" || entry.icon === "denied" ? "bad" : ""}
                        onClick={() => showOutline(false)}
                      >
                        <Icon name={entry.icon} class="i-s" />
                        <span class="trunc">{plain(entry.text)}</span>
                        <span class="n">{entry.step}</span>
                      </a>
                    </li>
                  ))}
                </ol>
                <p class="hint">
                  <kbd class="kbd">j</kbd> <kbd class="kbd">k</kbd> step <kbd class="kbd">e</kbd> error <kbd class="kbd">o</kbd>{" "}
                  open <kbd class="kbd">?</kbd> keys
                </p>
              </div>
            </nav>
          </div>
        ))}
        {panel("changes", () => (
          <>
            <h2 class="sr">Changes</h2>
            <ChangesTab run={run} />
          </>
        ))}
        {panel("cost", () => (
          <CostTab run={run} />
        ))}
        {panel("permissions", () => (
          <PermissionsTab run={run} />
        ))}
        {panel("files", () => (
          <FilesTab run={run} />
        ))}
      </main>
      <KeysDialog dialog={keys} />
    </>
  );
}

function Download({ make, name }: { make: () => string; name: string }): JSX.Element {
  const save = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([make()], { type: "application/json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return (
    <button type="button" class="btn btn-quiet hide-s" onClick={save}>
      <Icon name="download" />
      Download ATIF
    </button>
  );
}

function copyLink(): void {
  navigator.clipboard?.writeText(location.href).catch(() => undefined);
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
