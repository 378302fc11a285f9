import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { isBad } from "../model/run-builder.ts";
import type { RunModel } from "../model/run-model.ts";
import { duration, plural } from "./format.ts";
import { Swatch } from "./icons.tsx";

type Bar = {
  readonly step: number;
  readonly kind: string;
  readonly lane: string;
  readonly at: number;
  readonly ms: number;
  readonly row?: number;
};

const laneHeight = { model: 12, tool: 18, wait: 12 };
const gap = 7;
const maxLanes = 4;

/**
 * What took how long, and when. Widths are in per cent and heights in pixels: it fits every width without a script. All of it is one tab stop;
 * elements of SVG know `tabindex` in small letters only.
 */
export function Timeline({
  run,
  selected,
  choose,
}: {
  run: RunModel;
  selected: number;
  choose: (step: number) => void;
}): JSX.Element | null {
  const chart = useRef<SVGSVGElement>(null);
  const bars = barsOf(run);
  const total = Math.max(run.durationMs ?? 0, ...bars.map((bar) => bar.at + bar.ms));
  if (bars.length === 0 || total <= 0) return null;
  const subagents = Math.min(maxLanes, new Set(bars.filter((bar) => bar.kind === "subagent").map((bar) => bar.lane)).size);
  const lanes = [
    { id: "model", name: "Model", height: laneHeight.model },
    { id: "tool", name: "Tools", height: laneHeight.tool },
    ...(run.totals.waitMs > 0 ? [{ id: "wait", name: "Waiting", height: laneHeight.wait }] : []),
    ...Array.from({ length: subagents }, (_, at) => ({
      id: `sub${at}`,
      name: `Subagent ${at + 1}${at === maxLanes - 1 ? " …" : ""}`,
      height: 12,
    })),
  ];
  let y = 22;
  const places = new Map<string, { readonly y: number; readonly height: number }>();
  for (const lane of lanes) {
    places.set(lane.id, { y, height: lane.height });
    y += lane.height + gap;
  }
  const height = y - 2;
  const x = (ms: number): string => `${((ms / total) * 100).toFixed(3)}%`;
  const rules = run.steps.filter((step) => step.rule?.kind === "compaction" && step.at !== undefined);
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const steps = [...new Set(bars.map((bar) => bar.step))].sort((a, b) => a - b);
    const next = by > 0 ? steps.find((step) => step > selected) : steps.findLast((step) => step < selected);
    if (next !== undefined) choose(next);
  };
  return (
    <section class="wf" aria-label="Timeline">
      <div class="wf-g">
        <ul class="wf-l" aria-hidden="true">
          {lanes.map(({ name }) => (
            <li>{name}</li>
          ))}
        </ul>
        <svg
          ref={chart}
          class="chart wf-s"
          height={height + 10}
          role="group"
          tabindex={0}
          onKeyDown={move}
          aria-label={`Timeline of ${plural(run.steps.length, "step")} over ${duration(total)}. Arrow keys move between steps.`}
        >
          {ticksOf(total).map((at) => (
            <>
              <line class="grid" x1={x(at)} x2={x(at)} y1="15" y2={height} />
              <text x={x(at)} y="10" text-anchor={at === 0 ? "start" : "middle"}>
                {tickName(at, total)}
              </text>
            </>
          ))}
          {bars.map((bar) => {
            const place = places.get(bar.lane) ?? places.get("tool");
            if (!place) return null;
            const isThin = bar.lane === "tool" && bar.kind !== "error";
            return (
              <a
                href={`#step-${bar.step}`}
                tabindex={-1}
                class={`wb${bar.step === selected ? " on" : ""}`}
                aria-label={`Step ${bar.step}: ${names[bar.kind]}, ${duration(bar.ms)}`}
              >
                <title>
                  Step {bar.step} · {names[bar.kind]} · {duration(bar.ms)}
                </title>
                <rect
                  x={x(bar.at)}
                  y={place.y + (isThin ? (bar.row ?? 0) * 6 : 0)}
                  width={x(Math.max(bar.ms, total / 900))}
                  height={isThin ? 5 : place.height}
                  rx="1"
                  class={`f-${bar.kind}`}
                />
              </a>
            );
          })}
          {rules.map((step) => (
            <a href={`#step-${step.n}`} tabindex={-1} class="wb" aria-label={`Step ${step.n}: compaction`}>
              <title>Step {step.n} · Compaction</title>
              <line x1={x(step.at ?? 0)} x2={x(step.at ?? 0)} y1="16" y2={height} class="s-compaction" />
            </a>
          ))}
          {bars
            .filter((bar) => bar.kind === "error")
            .map((bar) => (
              <svg x={x(bar.at)} y={height - 1} width="1" height="1" overflow="visible">
                <path d="M-3 8L0 2l3 6z" class="f-error" />
              </svg>
            ))}
        </svg>
      </div>
      <Legend run={run} />
    </section>
  );
}

const names: Readonly<Record<string, string>> = {
  model: "Model",
  tool: "Tool",
  error: "Failed call",
  permission: "Waiting for permission",
  retry: "Retry",
  subagent: "Subagent",
};

function Legend({ run: { totals, steps } }: { run: RunModel }): JSX.Element {
  const compactions = steps.filter((step) => step.rule?.kind === "compaction").length;
  const entries: readonly (readonly [string, string, string | undefined])[] = [
    ["model", "Model", totals.modelMs > 0 ? duration(totals.modelMs) : undefined],
    ["tool", "Tools", totals.toolMs > 0 ? duration(totals.toolMs) : undefined],
    ["error", "Failed call", totals.errors > 0 ? String(totals.errors) : undefined],
    ["permission", "Waiting for permission", totals.waitMs > 0 ? duration(totals.waitMs) : undefined],
    ["retry", "Retry", totals.retryMs > 0 ? duration(totals.retryMs) : undefined],
    ["subagent", "Subagents", totals.subagentMs > 0 ? duration(totals.subagentMs) : undefined],
    ["compaction", "Compaction", compactions > 0 ? String(compactions) : undefined],
  ];
  return (
    <div class="legend wf-leg">
      {entries.map(([kind, name, value]) =>
        value === undefined ? null : (
          <span>
            <Swatch kind={kind} />
            {name} <b>{value}</b>
          </span>
        ),
      )}
    </div>
  );
}

/** In a long run neighbours that would touch become one bar: nobody could tell ten thousand apart. */
function barsOf(run: RunModel): Bar[] {
  const bars: Bar[] = [];
  let subagents = 0;
  for (const step of run.steps) {
    if (step.at === undefined) continue;
    if (step.modelMs) bars.push({ step: step.n, kind: "model", lane: "model", at: step.at, ms: step.modelMs });
    if (step.retries?.waitMs)
      bars.push({
        step: step.n,
        kind: "retry",
        lane: "model",
        at: Math.max(0, step.at - step.retries.waitMs),
        ms: step.retries.waitMs,
      });
    for (const [row, call] of step.calls.entries()) {
      if (call.at === undefined) continue;
      if (call.waitMs)
        bars.push({ step: step.n, kind: "permission", lane: "wait", at: Math.max(0, call.at - call.waitMs), ms: call.waitMs });
      const ms = call.tookMs ?? 0;
      if (call.subagent)
        bars.push({
          step: step.n,
          kind: "subagent",
          lane: `sub${Math.min(maxLanes - 1, subagents++ % maxLanes)}`,
          at: call.at,
          ms,
        });
      else bars.push({ step: step.n, kind: isBad(call) ? "error" : "tool", lane: "tool", at: call.at, ms, row: row % 3 });
    }
  }
  return bars.length <= 1500 ? bars : merged(bars);
}

function merged(bars: readonly Bar[]): Bar[] {
  const width = Math.max(...bars.map((bar) => bar.at + bar.ms)) / 1200;
  const last = new Map<string, Bar[]>();
  for (const bar of bars.toSorted((a, b) => a.at - b.at)) {
    const key = `${bar.lane} ${bar.kind}`;
    const lane = last.get(key) ?? [];
    last.set(key, lane);
    const before = lane.at(-1);
    if (before && bar.at - (before.at + before.ms) < width)
      lane[lane.length - 1] = { ...before, ms: Math.max(before.ms, bar.at + bar.ms - before.at) };
    else lane.push(bar);
  }
  return [...last.values()].flat();
}

const tickSteps = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000].concat(
  [1, 2, 5, 10, 20, 30, 60, 120, 240, 720, 1440].map((minutes) => minutes * 60_000),
);

function ticksOf(total: number): number[] {
  const step = tickSteps.find((size) => total / size <= 10) ?? 7 * 24 * 3_600_000;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, at) => at * step);
}

function tickName(at: number, total: number): string {
  if (total <= 1000) return `${at} ms`;
  if (total <= 120_000) return `${at / 1000} s`;
  if (total <= 3 * 3_600_000) return `${+(at / 60_000).toFixed(1)} m`;
  return `${+(at / 3_600_000).toFixed(1)} h`;
}
