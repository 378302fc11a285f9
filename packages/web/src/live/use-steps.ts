import { useState } from "preact/hooks";
import { isBad } from "../model/run-builder.ts";
import type { RunModel } from "../model/run-model.ts";
import type { Openings } from "../page/step.tsx";

/** Which step is selected and what is open. It outlives new events. */
export type StepChoice = {
  readonly selected: number;
  readonly openings: Openings;
  select(step: number): void;
  move(by: number): void;
  moveToError(by: 1 | -1): void;
  toggleStep(): void;
};

export function useSteps(run: RunModel | undefined): StepChoice {
  const [selected, setSelected] = useState(0);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const steps = run?.steps ?? [];
  const toggle = (key: string): void =>
    setOpen((now) => {
      const next = new Set(now);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const select = (step: number): void => {
    setSelected(step);
    requestAnimationFrame(() => document.getElementById(`step-${step}`)?.scrollIntoView({ block: "nearest" }));
  };
  const move = (by: number): void => {
    const from = selected === 0 ? steps.length + (by > 0 ? 0 : 1) : selected;
    const next = Math.max(1, Math.min(steps.length, from + by));
    if (steps.length > 0) select(next);
  };
  const moveToError = (by: 1 | -1): void => {
    const rest =
      by === 1 ? steps.filter(({ n }) => n > selected) : steps.filter(({ n }) => n < (selected || steps.length + 1)).reverse();
    const next = rest.find((step) => step.calls.some(isBad));
    if (!next) return;
    const keys = next.calls.flatMap((call, at) => (isBad(call) ? [`step-${next.n}-call-${at + 1}`] : []));
    setOpen((now) => new Set([...now, ...keys]));
    select(next.n);
  };
  const toggleStep = (): void => {
    const step = steps.find(({ n }) => n === selected);
    for (const [at] of step?.calls.entries() ?? []) toggle(`step-${selected}-call-${at + 1}`);
    if (step?.reasoning) toggle(`step-${selected}-reasoning`);
  };
  return { selected, openings: { isOpen: (key) => open.has(key), toggle }, select, move, moveToError, toggleStep };
}
