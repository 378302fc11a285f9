import type { JSX, RefObject } from "preact";
import { useMemo } from "preact/hooks";
import type { RunModel } from "../model/run-model.ts";
import { Ending } from "./ending.tsx";
import { Icon } from "./icons.tsx";
import { outlineOf } from "./outline.ts";
import type { Filter } from "./search.ts";
import { StepRow } from "./step.tsx";
import { plain } from "./text.tsx";
import { maxPrinted, type Reading } from "./use-reading.ts";

const filters: readonly (readonly [Filter, string])[] = [
  ["all", "All"],
  ["message", "Messages"],
  ["tool", "Tools"],
  ["subagent", "Subagents"],
  ["error", "Errors"],
];

type StepsProps = {
  readonly run: RunModel;
  readonly reading: Reading;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly list: RefObject<HTMLDivElement | null>;
  readonly isPrinting: boolean;
};

/** The steps with what finds one among them. */
export function StepsPanel({ run, reading, search, list, isPrinting }: StepsProps): JSX.Element {
  const outline = useMemo(() => outlineOf(run), [run]);
  return (
    <div class={`cols${reading.showsOutline ? " show-o" : ""}`}>
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
              value={reading.query}
              onInput={(event) => reading.setQuery(event.currentTarget.value)}
            />
            <kbd class="kbd">/</kbd>
          </label>
          <div class="chips" role="group" aria-label="Show">
            {filters.map(([name, word]) => (
              <button type="button" class="chip" aria-pressed={reading.filter === name} onClick={() => reading.setFilter(name)}>
                {name === "error" && <Icon name="error" class="i-s c-error" />}
                {word} {name === "error" && <span class="n">{run.totals.errors}</span>}
              </button>
            ))}
          </div>
          <span class="grow" />
          <button
            type="button"
            class="btn btn-quiet only-m"
            aria-expanded={reading.showsOutline}
            aria-controls="outline"
            onClick={() => reading.showOutline(!reading.showsOutline)}
          >
            Outline
          </button>
          <span class="dimmer" role="status">
            {reading.shown.length === run.steps.length ? "" : `${reading.shown.length} of ${run.steps.length} steps`}
          </span>
          <button type="button" class="btn btn-quiet" disabled={run.totals.errors === 0} onClick={() => reading.moveToError(1)}>
            Next error <kbd class="kbd">e</kbd>
          </button>
          <button type="button" class="btn btn-quiet" onClick={reading.expandAll}>
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
            <div style={{ height: `${reading.rows.above}px` }} />
            {reading.shown.slice(reading.rows.from, reading.rows.to).map((step, at) => (
              <StepRow
                key={step.n}
                step={step}
                openings={reading.openings}
                isSelected={step.n === reading.selected}
                place={{ of: reading.shown.length, at: reading.rows.from + at + 1 }}
              />
            ))}
            <div style={{ height: `${reading.rows.below}px` }} />
          </div>
        </div>
        {reading.shown.length === 0 && (
          <div class="empty">
            <b>No step matches.</b>
            {run.steps.length} steps are hidden by the search and the filter.
            <br />
            <button type="button" class="btn" onClick={reading.clear}>
              Clear search and filter
            </button>
          </div>
        )}
        {run.outcome.state !== "completed" && <Ending run={run} />}
        <p class="foot">
          <Icon name="info" class="i-s" />
          <span>
            {plain(run.notes.join(" "))} {plain(run.agent)}, session {plain(run.id)}.
            {isPrinting && reading.shown.length > maxPrinted
              ? ` Only the rows on the screen are printed: ${reading.shown.length} are too many.`
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
                  onClick={() => reading.showOutline(false)}
                >
                  <Icon name={entry.icon} class="i-s" />
                  <span class="trunc">{plain(entry.text)}</span>
                  <span class="n">{entry.step}</span>
                </a>
              </li>
            ))}
          </ol>
          <p class="hint">
            <kbd class="kbd">j</kbd> <kbd class="kbd">k</kbd> step <kbd class="kbd">e</kbd> error <kbd class="kbd">o</kbd> open{" "}
            <kbd class="kbd">?</kbd> keys
          </p>
        </div>
      </nav>
    </div>
  );
}
