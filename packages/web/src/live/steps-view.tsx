import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RunModel } from "../model/run-model.ts";
import { duration, plural } from "../page/format.ts";
import { Icon } from "../page/icons.tsx";
import { Ending } from "../page/ending.tsx";
import { Markdown } from "../page/markdown.tsx";
import { StepRow } from "../page/step.tsx";
import { plain } from "../page/text.tsx";
import type { Draft } from "./session-state.ts";
import type { StepChoice } from "./use-steps.ts";

const atFirst = 120;
const more = 300;
/** So near to the end a reader follows it. */
const nearEnd = 80;

type Props = {
  readonly run: RunModel;
  readonly draft: Draft | undefined;
  readonly isWorking: boolean;
  readonly isWaiting: boolean;
  readonly turnBegan: number;
  readonly choice: StepChoice;
};

/** The same steps as in a report, the latest of them, with what is being written. It follows the end while the reader is there. */
export function StepsView({ run, draft, isWorking, isWaiting, turnBegan, choice }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const seen = useRef(run.steps.length);
  const [shown, setShown] = useState(atFirst);
  const [unseen, setUnseen] = useState(0);
  const first = Math.max(
    0,
    Math.min(run.steps.length - shown, choice.selected > 0 ? choice.selected - 1 : Number.POSITIVE_INFINITY),
  );
  const steps = run.steps.slice(first);

  const toEnd = (): void => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
    isAtEnd.current = true;
    seen.current = run.steps.length;
    setUnseen(0);
  };
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else setUnseen(Math.max(0, run.steps.length - seen.current));
  }, [run, draft, isWorking]);
  // What opens below, a card or a longer field, must not push the end out of sight.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watching = new ResizeObserver(() => {
      if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    watching.observe(element);
    return () => watching.disconnect();
  }, []);
  const onScroll = (): void => {
    const element = box.current;
    if (!element) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;
    if (isAtEnd.current && unseen > 0) toEnd();
  };
  const earlier = (): void => {
    const element = box.current;
    const below = element ? element.scrollHeight - element.scrollTop : 0;
    setShown((now) => now + more);
    requestAnimationFrame(() => {
      if (element) element.scrollTop = element.scrollHeight - below;
    });
  };
  return (
    <div class="scroll" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label="Steps">
      <div class="inner">
        <h2 class="sr">Steps</h2>
        {first > 0 && (
          <p class="earlier">
            <button type="button" class="btn btn-quiet" onClick={earlier}>
              <Icon name="up" class="i-s" />
              Show steps {Math.max(1, first - more + 1)} to {first}
            </button>
          </p>
        )}
        <div class="steps">
          {steps.map((step) => (
            <StepRow key={step.n} step={step} openings={choice.openings} isSelected={step.n === choice.selected} />
          ))}
          {draft && (draft.text !== "" || draft.reasoning !== "") && <DraftStep draft={draft} n={run.steps.length + 1} />}
        </div>
        {isWorking && !isWaiting && <Now run={run} draft={draft} turnBegan={turnBegan} />}
        {!isWorking && run.steps.length > 0 && <Ending run={run} />}
      </div>
      {unseen > 0 && (
        <button type="button" class="btn jump" onClick={toEnd}>
          <Icon name="down" class="i-s" />
          {plural(unseen, "new step")}
        </button>
      )}
    </div>
  );
}

function DraftStep({ draft, n }: { draft: Draft; n: number }): JSX.Element {
  return (
    <article class="step is-draft" aria-busy="true">
      <span class="step-n">{n}</span>
      <div class="step-b">
        {draft.reasoning !== "" && (
          <p class="think-b">
            {plain(draft.reasoning.slice(-600))}
            {draft.text === "" && <span class="caret" />}
          </p>
        )}
        {draft.text !== "" && (
          <div class="prose">
            <Markdown text={draft.text} />
            <span class="caret" />
          </div>
        )}
      </div>
    </article>
  );
}

function Now({ run, draft, turnBegan }: { run: RunModel; draft: Draft | undefined; turnBegan: number }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const call = run.steps.at(-1)?.calls.find(({ status }) => status === "running");
  return (
    <p class="now">
      <Icon name="running" class="spin c-running i-s" />
      <span>
        {call ? (
          <>
            Running <b>{plain(call.preview || call.tool)}</b>
          </>
        ) : draft?.tool !== undefined ? (
          <>
            Writing a call of <b>{plain(draft.tool)}</b>
          </>
        ) : (
          "The model is at work"
        )}
      </span>
      <span class="dimmer">
        {turnBegan > 0 && `${duration(Math.max(0, Math.floor((now - turnBegan) / 1000) * 1000)).replace(".0", "")} · `}Esc to
        interrupt
      </span>
    </p>
  );
}
