import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Comparison } from "../model/compare-runs.ts";
import { allSteps } from "../model/run-builder.ts";
import type { RunModel } from "../model/run-model.ts";
import { inputOf } from "./cost-tab.tsx";
import { count, day, dollars, duration, percent, plural } from "./format.ts";
import { stateLook } from "./header.tsx";
import { Outcome } from "./index-page.tsx";
import { Diff, PlusMinus } from "./output.tsx";
import { PairList, type Show } from "./pair-list.tsx";
import { plain } from "./text.tsx";
import { TopBar } from "./top-bar.tsx";

export type ComparedRuns = { readonly a: RunModel; readonly b: RunModel; readonly comparison: Comparison };

/** Two runs side by side: how they ended, what they took, what each did, what they changed. */
export function ComparePage({ a, b, comparison }: ComparedRuns): JSX.Element {
  const [show, setShow] = useState<Show>("all");
  const parted = comparison.partsAt;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the comparison
      </a>
      <TopBar crumb={<b>compare</b>} />
      <main class="page" id="main">
        <section class="chd">
          <h1>{headline(a, b)}</h1>
          <p class="dim">
            {a.task === b.task ? `Same task: ${a.task}` : "The tasks differ."}{" "}
            {parted === undefined
              ? "They did the same."
              : parted === 0
                ? "They part from the start."
                : `They part after ${plural(parted, "call")}.`}
          </p>
        </section>
        <div class="two heads">
          <Head run={a} name="A" />
          <span />
          <Head run={b} name="B" />
        </div>
        <div class="ov">
          <Figures a={a} b={b} />
          <CostCurve a={a} b={b} />
        </div>
        <div class="sec cs">
          <h2>Steps</h2>
          <p>
            {a.steps.length} and {b.steps.length}, aligned by tool and target
            {comparison.leftOut > 0 ? `; ${comparison.leftOut} more are left out` : ""}
          </p>
          <span class="grow" />
          <div class="chips" role="group" aria-label="Show">
            {(["all", "differences", "errors"] as const).map((name) => (
              <button type="button" class="chip" aria-pressed={show === name} onClick={() => setShow(name)}>
                {name[0]?.toUpperCase()}
                {name.slice(1)}
              </button>
            ))}
          </div>
        </div>
        <PairList comparison={comparison} show={show} />
        <Results a={a} b={b} />
      </main>
    </>
  );
}

function headline(a: RunModel, b: RunModel): string {
  const [left, right] = [stateLook[a.outcome.state].word.toLowerCase(), stateLook[b.outcome.state].word.toLowerCase()];
  if (left === right) return `Both ${left}`;
  return b.outcome.state === "completed" ? `B ${right}, A ${left}` : `A ${left}, B ${right}`;
}

function Head({ run, name }: { run: RunModel; name: string }): JSX.Element {
  return (
    <div>
      <p class="dimmer">{name}</p>
      <p class="hh">
        <Outcome state={run.outcome.state} word={stateLook[run.outcome.state].word} />{" "}
        <span class="dim">{plain(run.outcome.what)}</span>
      </p>
      <p class="dim">
        {plain(run.models[0] ?? run.agent)} · {plain(run.id.slice(0, 8))} · {day(run.startedAt)}
      </p>
    </div>
  );
}

type Figure = {
  readonly name: string;
  readonly show: (run: RunModel) => ComponentChildren;
  readonly of?: (run: RunModel) => number | undefined;
  readonly difference?: (by: number) => string;
};

const figures: readonly Figure[] = [
  { name: "Outcome", show: (run) => <Outcome state={run.outcome.state} word={stateLook[run.outcome.state].word} /> },
  { name: "Steps", show: (run) => run.steps.length, of: (run) => run.steps.length },
  { name: "Calls", show: (run) => run.totals.calls, of: (run) => run.totals.calls },
  { name: "Errors", show: (run) => run.totals.errors, of: (run) => run.totals.errors },
  {
    name: "Duration",
    show: (run) => duration(run.durationMs),
    of: (run) => run.durationMs,
    difference: (by) => duration(Math.abs(by)),
  },
  {
    name: "Tokens in",
    show: (run) => countOf(inputOf(run.totals.usage)),
    of: (run) => inputOf(run.totals.usage),
    difference: (by) => count(Math.abs(by)),
  },
  {
    name: "Tokens out",
    show: (run) => countOf(run.totals.usage.output),
    of: (run) => run.totals.usage.output,
    difference: (by) => count(Math.abs(by)),
  },
  { name: "Cache hit rate", show: (run) => percent(run.totals.usage.cached, inputOf(run.totals.usage)) },
  {
    name: "Cost",
    show: (run) => dollars(run.totals.costUsd),
    of: (run) => run.totals.costUsd,
    difference: (by) => dollars(Math.abs(by)),
  },
  { name: "Changes", show: (run) => <PlusMinus added={run.totals.added} removed={run.totals.removed} /> },
];

function Figures({ a, b }: { a: RunModel; b: RunModel }): JSX.Element {
  return (
    <table class="table met">
      <thead>
        <tr>
          <th scope="col">
            <span class="sr">Measure</span>
          </th>
          <th scope="col" class="num">
            A
          </th>
          <th scope="col" class="num">
            B
          </th>
          <th scope="col" class="num">
            B against A
          </th>
        </tr>
      </thead>
      <tbody>
        {figures.map(({ name, show, of, difference = (by) => String(Math.abs(by)) }) => {
          const [left, right] = [of?.(a), of?.(b)];
          const by = left === undefined || right === undefined ? undefined : right - left;
          return (
            <tr>
              <th scope="row">{name}</th>
              <td class="num">{show(a)}</td>
              <td class="num">{show(b)}</td>
              <td class="num dim">{by === undefined ? "" : by === 0 ? "=" : `${by > 0 ? "+" : "−"}${difference(by)}`}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** No model answers without a token: none means that nobody has counted. */
function countOf(tokens: number): string {
  return tokens === 0 ? "—" : count(tokens);
}

const curveHeight = 230;

function CostCurve({ a, b }: { a: RunModel; b: RunModel }): JSX.Element | null {
  const [left, right] = [costsOf(a), costsOf(b)];
  const all = [...left, ...right];
  if (left.length === 0 || right.length === 0) return null;
  const [longest, most] = [Math.max(...all.map(([ms]) => ms), 1), Math.max(...all.map(([, cost]) => cost), 0.000001)];
  const path = (points: readonly (readonly [number, number])[]): string =>
    `M0,${curveHeight} L${points.map(([ms, cost]) => `${((ms / longest) * 1000).toFixed(1)},${(curveHeight - (cost / most) * curveHeight * 0.9).toFixed(1)}`).join(" L")}`;
  return (
    <figure>
      <h2>
        Cost over time: A {dollars(left.at(-1)?.[1])} solid, B {dollars(right.at(-1)?.[1])} dashed, over {duration(longest)}
      </h2>
      <svg
        class="chart"
        height={curveHeight + 4}
        role="img"
        aria-label={`A costs ${dollars(left.at(-1)?.[1])} after ${duration(left.at(-1)?.[0])}, B ${dollars(right.at(-1)?.[1])} after ${duration(right.at(-1)?.[0])}.`}
      >
        <line class="axis" x1="0" x2="100%" y1={curveHeight} y2={curveHeight} />
        <svg width="100%" height={curveHeight} viewBox={`0 0 1000 ${curveHeight}`} preserveAspectRatio="none">
          <path d={path(left)} class="la" />
          <path d={path(right)} class="lb" />
        </svg>
      </svg>
    </figure>
  );
}

/** What was spent by when. A step's subagents are a part of it; what no step has spent, as summaries, is there at the end. */
function costsOf(run: RunModel): (readonly [number, number])[] {
  let cost = 0;
  let last = 0;
  const points = run.steps.flatMap((step) => {
    const spent = allSteps([step]).reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
    if (spent === 0 || step.at === undefined) return [];
    cost += spent;
    last = Math.max(last, step.at + (step.modelMs ?? 0)); // an answer is paid for when it is there, not when its calls are done
    return [[last, cost] as const];
  });
  const { costUsd } = run.totals;
  return costUsd === undefined || costUsd <= cost || points.length === 0
    ? points
    : [...points, [Math.max(last, run.durationMs ?? 0), costUsd] as const];
}

function Results({ a, b }: { a: RunModel; b: RunModel }): JSX.Element {
  const paths = [...new Set([...a.files, ...b.files].map((file) => file.path))].sort();
  const [inA, inB] = [new Map(a.files.map((file) => [file.path, file])), new Map(b.files.map((file) => [file.path, file]))];
  const both = paths.filter((path) => inA.has(path) && inB.has(path)).length;
  return (
    <>
      <div class="sec">
        <h2>Results</h2>
        <p>
          {paths.length === 0
            ? "Neither edited a file."
            : `${plural(both, "file")} changed in both, ${a.files.length - both} only in A, ${b.files.length - both} only in B`}
        </p>
      </div>
      {paths.map((path) => (
        <section class="two dd" aria-label={path}>
          <div>
            {inA.get(path)?.edits.map(({ edit }) => <Diff edit={edit} />) ?? (
              <p class="dimmer">Not changed in A: {plain(path)}</p>
            )}
          </div>
          <div>
            {inB.get(path)?.edits.map(({ edit }) => <Diff edit={edit} />) ?? (
              <p class="dimmer">Not changed in B: {plain(path)}</p>
            )}
          </div>
        </section>
      ))}
    </>
  );
}
