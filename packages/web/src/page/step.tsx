import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { readableInput } from "../model/describe-call.ts";
import type { Call, Picture, Step, Subagent, Value } from "../model/run-model.ts";
import { isBad } from "../model/run-builder.ts";
import { clock, dollars, duration } from "./format.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Markdown } from "./markdown.tsx";
import { Diff, Output, PlusMinus } from "./output.tsx";
import { plain } from "./text.tsx";

/** Which calls and thoughts are open. It is kept outside of the rows: they come and go while a reader scrolls. */
export type Openings = { readonly isOpen: (key: string) => boolean; readonly toggle: (key: string) => void };

type StepProps = {
  readonly step: Step;
  readonly openings: Openings;
  readonly path?: string;
  readonly isSelected?: boolean;
  readonly place?: { readonly of: number; readonly at: number };
};

const stateIcons: Partial<Record<Call["status"], IconName>> = {
  error: "error",
  denied: "denied",
  unknown: "warn",
  interrupted: "stopped",
  running: "running",
  waiting: "waiting",
  queued: "queued",
};
const noteIcons = { permission: "permission", denied: "denied", hook: "hook", warn: "warn" } as const;
const ruleIcons = { compaction: "compaction", change: "info", resume: "clock", warning: "warn" } as const;

export function StepRow({ step, openings, path = "", isSelected = false, place }: StepProps): JSX.Element {
  const id = `step-${path}${step.n}`;
  if (step.kind === "rule" && step.rule) return <RuleRow step={step} id={id} openings={openings} isSelected={isSelected} />;
  const hasBody =
    step.text !== undefined || step.reasoning !== undefined || step.retries !== undefined || step.images !== undefined;
  const bad = step.calls.some(isBad);
  const look = [
    "step",
    step.kind === "prompt" && "is-user",
    bad && "is-error",
    step.isFinal && "is-final",
    !hasBody && "bare",
    isSelected && "is-sel",
  ];
  const Heading = path === "" ? "h3" : "h4";
  return (
    <article
      class={look.filter(Boolean).join(" ")}
      id={id}
      data-n={path === "" ? step.n : undefined}
      aria-posinset={place?.at}
      aria-setsize={place?.of}
    >
      <Heading class="sr">
        Step {path}
        {step.n}
        {bad ? ", with an error" : ""}
      </Heading>
      <a class="step-n" href={`#${id}`} tabIndex={-1} aria-label={`Link to step ${path}${step.n}`}>
        {step.n}
      </a>
      <div class="step-b">
        <StepBody step={step} openings={openings} id={id} />
      </div>
      <Meta step={step} isNested={path !== ""} />
      {step.calls.length > 0 && (
        <div class="step-c">
          {step.calls.length > 1 && <p class="par-tag">{step.calls.length} in parallel</p>}
          <div class={`calls${step.calls.length > 1 ? " par" : ""}`}>
            {step.calls.map((call, at) => (
              <CallRow key={call.id} call={call} id={`${id}-call-${at + 1}`} path={`${path}${step.n}-`} openings={openings} />
            ))}
          </div>
        </div>
      )}
    </article>
  );
}

function StepBody({ step, openings, id }: { step: Step; openings: Openings; id: string }): JSX.Element {
  const { reasoning, retries, text, kind, who, images } = step;
  const key = `${id}-reasoning`;
  return (
    <>
      {reasoning && (
        <details class="think" open={openings.isOpen(key)}>
          <summary onClick={toggling(openings, key)}>
            <Icon name="chev" class="i-s" />
            <span>Reasoning</span>
            <span class="trunc dimmer">{plain(reasoning.text.split("\n", 1)[0]?.slice(0, 160) ?? "")}</span>
          </summary>
          {openings.isOpen(key) && <div class="think-b">{plain(reasoning.text)}</div>}
        </details>
      )}
      {retries && (
        <p class="note note-retry">
          <Icon name="retry" />
          <span>
            <b>
              {retries.count} {retries.count === 1 ? "retry" : "retries"}
            </b>{" "}
            · {plain(retries.why)} · waited {duration(retries.waitMs)}
          </span>
        </p>
      )}
      {text && (
        <div class="prose">
          {kind === "prompt" && <span class="who">{who ?? "Prompt"}</span>}
          <Prose text={text.text + (text.cut ? `\n\n[…]\n\n${text.cut.tail}` : "")} />
        </div>
      )}
      {images?.map((picture) => (
        <PictureView picture={picture} />
      ))}
    </>
  );
}

const maxProse = 4000;

function Prose({ text }: { text: string }): JSX.Element {
  const [showsAll, showAll] = useState(false);
  if (showsAll || text.length <= maxProse + 500) return <Markdown text={text} />;
  return (
    <>
      <Markdown text={text.slice(0, maxProse)} />
      <button type="button" class="btn btn-quiet" onClick={() => showAll(true)}>
        Show all, {Math.round((text.length - maxProse) / 1000)} k more characters
      </button>
    </>
  );
}

function Meta({ step, isNested }: { step: Step; isNested: boolean }): JSX.Element {
  return (
    <div class="meta">
      {!isNested && <span>{clock(step.at)}</span>}
      <span>{step.tookMs === undefined ? "" : duration(step.tookMs)}</span>
      <span>{step.costUsd === undefined ? "" : dollars(step.costUsd)}</span>
    </div>
  );
}

function RuleRow({
  step,
  id,
  openings,
  isSelected,
}: {
  step: Step;
  id: string;
  openings: Openings;
  isSelected: boolean;
}): JSX.Element {
  const rule = step.rule;
  const key = `${id}-detail`;
  return (
    <section class={`rule-line${isSelected ? " is-sel" : ""}`} id={id} data-n={step.n}>
      <h3 class="sr">Step {step.n}</h3>
      <a class="step-n" href={`#${id}`} tabIndex={-1} aria-label={`Link to step ${step.n}`}>
        {step.n}
      </a>
      <Icon name={ruleIcons[rule?.kind ?? "change"]} class="i-s" />
      <span class="grow">
        {plain(rule?.title ?? "")}{" "}
        {rule?.detail && (
          <button type="button" class="btn btn-quiet" aria-expanded={openings.isOpen(key)} onClick={() => openings.toggle(key)}>
            {openings.isOpen(key) ? "Hide" : "Show"} {rule.kind === "compaction" ? "summary" : "details"}
          </button>
        )}
        {rule?.detail && openings.isOpen(key) && <div class="think-b">{plain(rule.detail.text)}</div>}
      </span>
      <Meta step={step} isNested={false} />
    </section>
  );
}

function CallRow({ call, id, path, openings }: { call: Call; id: string; path: string; openings: Openings }): JSX.Element {
  const isOpen = openings.isOpen(id);
  const state = stateIcons[call.status];
  const edited = call.edits?.length ? call.edits : undefined;
  return (
    <details class={`call${state ? ` is-${call.status === "unknown" ? "error" : call.status}` : ""}`} open={isOpen} id={id}>
      <summary onClick={toggling(openings, id)}>
        <Icon name={state ?? call.kind} class={call.status === "running" ? "spin" : ""} />
        <span class="tool" title={call.tool}>
          {plain(call.tool)}
        </span>
        <span class="pre">{plain(call.preview)}</span>
        <span class="res">
          {edited && call.status === "ok" ? (
            <PlusMinus added={sum(edited, "added")} removed={sum(edited, "removed")} />
          ) : (
            plain(call.result)
          )}
        </span>
        <span class="took">{call.tookMs === undefined ? "" : duration(call.tookMs)}</span>
        <Icon name="chev" class="disc i-s" />
      </summary>
      {isOpen && <CallBody call={call} path={path} openings={openings} />}
    </details>
  );
}

function CallBody({ call, path, openings }: { call: Call; path: string; openings: Openings }): JSX.Element {
  const edits = call.edits ?? [];
  const isPlainCommand = call.kind === "bash" && call.input.text === call.preview;
  return (
    <div class="call-b">
      {call.notes?.map((note) => (
        <p class={`note note-${note.kind === "permission" ? "perm" : note.kind}`}>
          <Icon name={noteIcons[note.kind]} />
          <span>{plain(note.text)}</span>
        </p>
      ))}
      {call.waitMs !== undefined && call.waitMs > 0 && (
        <p class="note note-perm">
          <Icon name="permission" />
          <span>Waited {duration(call.waitMs)} for an answer</span>
        </p>
      )}
      {edits.map((edit) => (
        <Diff edit={edit} />
      ))}
      {edits.length === 0 && !isPlainCommand && (
        <Output title="Input" value={readable(call.input)} label={`Input of ${call.tool}`} wraps />
      )}
      {call.subagent && <SubagentView subagent={call.subagent} path={path} openings={openings} />}
      {call.output && !(edits.length > 0 && call.status === "ok") && (
        <Output title="Output" value={call.output} label={`Output of ${call.tool}`} wraps={!call.output.text.includes("\n")} />
      )}
      {call.images?.map((picture) => (
        <PictureView picture={picture} />
      ))}
    </div>
  );
}

function readable(input: Value): Value {
  return input.cut ? input : { text: readableInput(input.text) };
}

function SubagentView({ subagent, path, openings }: { subagent: Subagent; path: string; openings: Openings }): JSX.Element {
  return (
    <div class="sub">
      <div class="sub-h">
        <b>{plain(subagent.name)}</b>
        {subagent.model && <span>{plain(subagent.model)}</span>}
        {subagent.durationMs !== undefined && <span>{duration(subagent.durationMs)}</span>}
        {subagent.costUsd !== undefined && <span>{dollars(subagent.costUsd)}</span>}
      </div>
      {subagent.steps.map((step) => (
        <StepRow key={step.n} step={step} path={path} openings={openings} />
      ))}
    </div>
  );
}

function PictureView({ picture }: { picture: Picture }): JSX.Element {
  const [isBroken, breaks] = useState(false);
  if (picture.data !== undefined && !isBroken)
    return (
      <img
        class="shot"
        src={`data:${picture.mediaType};base64,${picture.data}`}
        alt={picture.note}
        loading="lazy"
        onError={() => breaks(true)}
      />
    );
  return (
    <div class="img" role="img" aria-label={picture.note}>
      <Icon name="image" />
      <span>{plain(isBroken ? `${picture.note}: it cannot be shown` : picture.note)}</span>
    </div>
  );
}

/** The element opens by the state alone, which outlives it. */
function toggling(openings: Openings, key: string): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    openings.toggle(key);
  };
}

function sum<K extends string>(list: readonly Readonly<Record<K, number>>[], key: K): number {
  return list.reduce((all, item) => all + item[key], 0);
}
