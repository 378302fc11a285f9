import type { JSX } from "preact";
import type { RunModel, Step, TokenCounts } from "../model/run-model.ts";
import { count, dollars, percent } from "./format.ts";
import { Swatch } from "./icons.tsx";
import { Empty, StepLink, TableBox } from "./tabs.tsx";
import { plain } from "./text.tsx";

const contextHeight = 150;
const barHeight = 90;
/** More bars than this cannot be told apart: neighbours are drawn as one. */
const maxBars = 240;

/** What it cost, where, and how the context grew. Only what is on record: nothing here is estimated. */
export function CostTab({ run }: { run: RunModel }): JSX.Element {
  const asked = run.steps.filter((step) => step.usage);
  if (asked.length === 0) return <Empty fact="No step tells what it used.">Tokens and cost of each answer are shown here.</Empty>;
  const { usage, costUsd, added, removed } = run.totals;
  const input = inputOf(usage);
  const largest = Math.max(...asked.map((step) => inputOf(step.usage)));
  const figures: readonly (readonly [string, string])[] = [
    ["Cost", dollars(costUsd)],
    ["Per changed line", costUsd === undefined || added + removed === 0 ? "—" : dollars(costUsd / (added + removed))],
    ["Cache hit rate", percent(usage.cached, input)],
    ["Tokens in", count(input)],
    ["Tokens out", count(usage.output)],
    ["Largest context", count(largest)],
  ];
  return (
    <>
      <dl class="figs">
        {figures.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ContextCurve run={run} steps={asked} largest={largest} />
      <StepBars steps={asked} />
      <div class="sec">
        <h2>By model</h2>
      </div>
      <TableBox label="Cost by model">
        <table class="table">
          <thead>
            <tr>
              <th>Model</th>
              {["Requests", "New input", "Cache write", "Cache read", "Output", "Hit rate", "Cost"].map((name) => (
                <th class="num">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {run.byModel.map((row) => (
              <tr>
                <td>{plain(row.model)}</td>
                <td class="num">{row.requests}</td>
                <td class="num">{count(row.usage.input)}</td>
                <td class="num">{count(row.usage.written)}</td>
                <td class="num">{count(row.usage.cached)}</td>
                <td class="num">{count(row.usage.output)}</td>
                <td class="num">{percent(row.usage.cached, inputOf(row.usage))}</td>
                <td class="num">{dollars(row.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
      <Dearest steps={run.steps} />
    </>
  );
}

function ContextCurve({ run, steps, largest }: { run: RunModel; steps: readonly Step[]; largest: number }): JSX.Element {
  const top = niceAbove(largest);
  const last = run.steps.length;
  const x = (n: number): number => ((n - 0.5) / last) * 1000;
  const y = (tokens: number): number => contextHeight - (tokens / top) * contextHeight;
  const points = steps.map((step) => `${x(step.n).toFixed(1)},${y(inputOf(step.usage)).toFixed(1)}`);
  const [first, end] = [x(steps[0]?.n ?? 1), x(steps.at(-1)?.n ?? 1)];
  const compactions = run.steps.filter((step) => step.rule?.kind === "compaction");
  const found = `Context per step: from ${count(inputOf(steps[0]?.usage))} to ${count(inputOf(steps.at(-1)?.usage))} tokens, at most ${count(largest)}.`;
  return (
    <>
      <div class="sec">
        <h2>Context per step</h2>
        <p>Tokens the model saw.{compactions.length > 0 ? " Dashed: compaction." : ""}</p>
      </div>
      <div class="plot">
        <div class="plot-y" aria-hidden="true">
          {[1, 0.75, 0.5, 0.25, 0].map((share) => (
            <span>{count(top * share)}</span>
          ))}
        </div>
        <svg class="chart" height={contextHeight + 2} role="img" aria-label={found}>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <line class="grid" x1="0" x2="100%" y1={contextHeight * share} y2={contextHeight * share} />
          ))}
          <svg width="100%" height={contextHeight} viewBox={`0 0 1000 ${contextHeight}`} preserveAspectRatio="none">
            <path d={`M${first},${contextHeight} L${points.join(" L")} L${end},${contextHeight} Z`} class="area" />
            <path d={`M${points.join(" L")}`} class="curve" />
          </svg>
          {compactions.map((step) => (
            <line x1={`${x(step.n) / 10}%`} x2={`${x(step.n) / 10}%`} y1="0" y2={contextHeight} class="s-compaction" />
          ))}
        </svg>
      </div>
    </>
  );
}

const kinds = [
  ["cached", "Cache read"],
  ["write", "Cache write"],
  ["new", "New input"],
  ["out", "Output"],
] as const;

function StepBars({ steps }: { steps: readonly Step[] }): JSX.Element {
  const groups = grouped(steps);
  const most = Math.max(...groups.map((group) => inputOf(group.usage) + group.usage.output), 1);
  const width = 100 / groups.length;
  return (
    <>
      <div class="sec">
        <h2>Tokens per step</h2>
        <div class="legend">
          {kinds.map(([kind, name]) => (
            <span>
              <Swatch kind={kind} />
              {name}
            </span>
          ))}
        </div>
      </div>
      <div class="plot">
        <div class="plot-y plot-y2" aria-hidden="true">
          <span>{count(most)}</span>
          <span>{count(most / 2)}</span>
          <span>0</span>
        </div>
        <svg
          class="chart"
          height={barHeight + 4}
          role="img"
          aria-label={`Tokens of ${steps.length} steps; the most is ${count(most)}. The same figures are in the tables below and beside each step.`}
        >
          {groups.map((group, at) => {
            let y = barHeight;
            const { cached, written, input, output } = group.usage;
            return (
              <g>
                <title>{group.name}</title>
                {[cached, written, input, output].map((tokens, kind) => {
                  const height = (tokens / most) * barHeight;
                  y -= height;
                  return height < 0.2 ? null : (
                    <rect
                      x={`${(at * width + width * 0.14).toFixed(3)}%`}
                      width={`${(width * 0.72).toFixed(3)}%`}
                      y={y.toFixed(1)}
                      height={height.toFixed(1)}
                      class={`f-${kinds[kind]?.[0]}`}
                    />
                  );
                })}
              </g>
            );
          })}
          <line x1="0" x2="100%" y1={barHeight} y2={barHeight} class="axis" />
        </svg>
      </div>
    </>
  );
}

function Dearest({ steps }: { steps: readonly Step[] }): JSX.Element | null {
  const dearest = steps
    .filter((step) => step.costUsd !== undefined)
    .sort((a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0))
    .slice(0, 6);
  if (dearest.length === 0) return null;
  return (
    <>
      <div class="sec">
        <h2>Most expensive steps</h2>
      </div>
      <TableBox label="Most expensive steps">
        <table class="table">
          <thead>
            <tr>
              <th class="num w-n">Step</th>
              <th>What</th>
              <th class="num">Output</th>
              <th class="num">Cost</th>
            </tr>
          </thead>
          <tbody>
            {dearest.map((step) => (
              <tr>
                <td class="num">
                  <StepLink step={step.n} />
                </td>
                <td class="wrap">
                  {step.calls[0]
                    ? [<b>{plain(step.calls[0].tool)}</b>, " ", <code class="dim">{plain(step.calls[0].preview)}</code>]
                    : "Answer"}
                </td>
                <td class="num">{count(step.usage?.output ?? 0)}</td>
                <td class="num">{dollars(step.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </>
  );
}

function grouped(steps: readonly Step[]): { name: string; usage: TokenCounts }[] {
  const size = Math.ceil(steps.length / maxBars);
  return Array.from({ length: Math.ceil(steps.length / size) }, (_, at) => {
    const group = steps.slice(at * size, (at + 1) * size);
    const average = (of: (usage: TokenCounts) => number): number =>
      group.reduce((sum, step) => sum + (step.usage ? of(step.usage) : 0), 0) / group.length;
    const usage = {
      input: average((one) => one.input),
      cached: average((one) => one.cached),
      written: average((one) => one.written),
      output: average((one) => one.output),
    };
    const name = size === 1 ? `Step ${group[0]?.n}` : `Steps ${group[0]?.n} to ${group.at(-1)?.n}, on average`;
    return { name: `${name}: ${count(inputOf(usage))} in, ${count(usage.output)} out`, usage };
  });
}

export function inputOf(usage: TokenCounts | undefined): number {
  return usage ? usage.input + usage.cached + usage.written : 0;
}

function niceAbove(value: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 4, 5, 8, 10].map((step) => step * size).find((top) => top >= value) ?? value;
}
