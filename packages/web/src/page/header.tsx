import type { JSX } from "preact";
import { taskStep } from "../model/run-builder.ts";
import type { RunModel, RunOutcome } from "../model/run-model.ts";
import { inputOf } from "./cost-tab.tsx";
import { count, day, dollars, duration, plural } from "./format.ts";
import { Icon, type IconName } from "./icons.tsx";
import { PlusMinus } from "./output.tsx";
import { plain } from "./text.tsx";

export const stateLook: Readonly<
  Record<RunOutcome["state"], { readonly word: string; readonly icon: IconName; readonly colour: string }>
> = {
  completed: { word: "Completed", icon: "ok", colour: "c-ok" },
  failed: { word: "Failed", icon: "error", colour: "c-error" },
  stopped: { word: "Stopped", icon: "stopped", colour: "c-stopped" },
  interrupted: { word: "Interrupted", icon: "stopped", colour: "c-stopped" },
  unfinished: { word: "Unfinished", icon: "warn", colour: "c-warn" },
};

export function stateWord(outcome: RunOutcome): string {
  return stateLook[outcome.state].word;
}

/** What happened, then why, then what was asked for. */
export function OutcomeHead({ run }: { run: RunModel }): JSX.Element {
  const { outcome } = run;
  const { word, icon, colour } = stateLook[outcome.state];
  const prompt = taskStep(run.steps);
  return (
    <section class="head" aria-label="Outcome">
      <div class="oh">
        <p class={`outcome ${colour}`}>
          <Icon name={icon} />
          <span>{word}</span>
        </p>
        <h1>{plain(outcome.what)}</h1>
      </div>
      {(outcome.cause || outcome.failure) && (
        <p class="cause">
          {outcome.cause && <>{plain(outcome.cause)} </>}
          {outcome.failure && (
            <>
              The last call that failed is <strong>{plain(outcome.failure.tool)}</strong>{" "}
              <code>{plain(outcome.failure.preview)}</code> in{" "}
              <a href={`#step-${outcome.failure.step}`}>step {outcome.failure.step}</a>
              {outcome.failure.result ? `: ${outcome.failure.result}.` : "."}
            </>
          )}
        </p>
      )}
      {run.task !== "" && (
        <p class="task">
          <span class="dimmer">Task</span> {plain(run.task)}{" "}
          {prompt && prompt.text?.text.trim() !== run.task && <a href={`#step-${prompt.n}`}>Full prompt</a>}
        </p>
      )}
    </section>
  );
}

export function Strip({ run }: { run: RunModel }): JSX.Element {
  const { totals } = run;
  const input = inputOf(totals.usage);
  const firstError = run.steps.find((step) =>
    step.calls.some((call) => call.status === "error" || call.status === "denied" || call.status === "unknown"),
  );
  const parts: readonly (readonly [string, number])[] = [
    ["model", totals.modelMs],
    ["tool", totals.toolMs],
    ["permission", totals.waitMs],
    ["subagent", totals.subagentMs],
  ];
  const requests = run.byModel.reduce((all, row) => all + row.requests, 0);
  const more = run.models.length > 1 ? `and ${plural(run.models.length - 1, "other")}` : undefined;
  return (
    <dl class="strip">
      <div>
        <dt>Model</dt>
        <dd title={run.models.join(", ")}>{plain(run.models[0] ?? "—")}</dd>
        <dd class="s2">{[more, run.mode && `mode ${run.mode}`].filter(Boolean).join(" · ") || plain(run.agent)}</dd>
      </div>
      <div>
        <dt>Time</dt>
        <dd>{duration(run.durationMs)}</dd>
        <dd class="s2">
          <Stack label={parts.map(([kind, ms]) => `${kind} ${duration(ms)}`).join(", ")} parts={parts} />
        </dd>
        <dd class="s2">
          {totals.waitMs > 0
            ? `${duration(totals.waitMs)} waiting`
            : totals.modelMs > 0
              ? `${duration(totals.modelMs)} in the model`
              : "model time not told"}
        </dd>
      </div>
      <div>
        <dt>Steps</dt>
        <dd>{run.steps.length.toLocaleString("en-US")}</dd>
        <dd class="s2">
          {plural(totals.calls, "call")}
          {totals.errors > 0 && firstError && (
            <>
              {" · "}
              <a href={`#step-${firstError.n}`} class="c-error">
                {plural(totals.errors, "error")}
              </a>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Tokens in</dt>
        <dd>{input > 0 ? count(input) : "—"}</dd>
        <dd class="s2">
          <Stack
            label={`Cached ${count(totals.usage.cached)}, written ${count(totals.usage.written)}, new ${count(totals.usage.input)}`}
            parts={[
              ["cached", totals.usage.cached],
              ["write", totals.usage.written],
              ["new", totals.usage.input],
            ]}
          />
        </dd>
        <dd class="s2">
          {input > 0
            ? `${Math.round((totals.usage.cached / input) * 100)} % cached · ${count(totals.usage.output)} out`
            : "not told"}
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>{dollars(totals.costUsd)}</dd>
        <dd class="s2">{totals.costUsd === undefined && requests > 0 ? "price unknown" : plural(requests, "request")}</dd>
      </div>
      <div>
        <dt>Changes</dt>
        <dd>{run.files.length === 0 ? "None" : <PlusMinus added={totals.added} removed={totals.removed} />}</dd>
        <dd class="s2">{run.files.length === 0 ? "by editing tools" : plural(run.files.length, "file")}</dd>
      </div>
      <div>
        <dt>Started</dt>
        <dd title={run.startedAt}>{day(run.startedAt)}</dd>
        <dd class="s2">
          {run.commit && <code>{plain(run.commit.slice(0, 7))}</code>} {plain(run.branch ?? run.cwd?.split("/").at(-1) ?? "")}
        </dd>
      </div>
    </dl>
  );
}

function Stack({ parts, label }: { parts: readonly (readonly [string, number])[]; label: string }): JSX.Element {
  const all = parts.reduce((sum, [, value]) => sum + value, 0);
  let x = 0;
  return (
    <svg class="stack" role="img" aria-label={label}>
      {parts.map(([kind, value]) => {
        const width = all === 0 ? 0 : (value / all) * 100;
        const rect = <rect x={`${x.toFixed(2)}%`} width={`${width.toFixed(2)}%`} height="6" class={`f-${kind}`} />;
        x += width;
        return rect;
      })}
    </svg>
  );
}
