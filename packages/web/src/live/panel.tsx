import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunModel } from "../model/run-model.ts";
import { count, dollars, percent, plural } from "../page/format.ts";
import { Icon, type IconName } from "../page/icons.tsx";
import { PlusMinus } from "../page/output.tsx";
import { plain, terminal } from "../page/text.tsx";
import type { Api } from "./api.ts";
import type { LiveTask, Rights, Todo } from "./live-types.ts";

type Props = {
  readonly api: Api;
  readonly sessionId: string;
  readonly run: RunModel;
  readonly todos: readonly Todo[];
  readonly tasks: readonly LiveTask[];
  readonly context: { readonly usedTokens: number; readonly maxTokens: number } | undefined;
  readonly rights: Rights;
  readonly onDiff: () => void;
  readonly onStep: (step: number) => void;
};

/** What stands beside the steps: the plan, work in the background, changed files, cost. */
export function Panel(props: Props): JSX.Element {
  const { run, todos, tasks } = props;
  return (
    <aside class="panel" aria-label="Plan, tasks and changes">
      <section>
        <h2>
          Plan
          {todos.length > 0 && (
            <span class="n">
              {todos.filter(({ status }) => status === "completed").length} of {todos.length}
            </span>
          )}
        </h2>
        {todos.length === 0 ? <p class="dimmer">The agent has written no plan.</p> : <Todos todos={todos} />}
      </section>
      {tasks.length > 0 && <Tasks {...props} />}
      <section>
        <h2>
          Changes so far
          <span class="n">
            {run.files.length > 0 ? (
              <>
                {plural(run.files.length, "file")} <PlusMinus added={run.totals.added} removed={run.totals.removed} />
              </>
            ) : (
              "none"
            )}
          </span>
        </h2>
        <ul class="files">
          {run.files.map((file) => (
            <li key={file.path}>
              <button type="button" onClick={() => props.onStep(file.edits.at(-1)?.step ?? 1)}>
                <span class="trunc" title={file.path}>
                  <span class="dimmer">{plain(file.path.slice(0, file.path.lastIndexOf("/") + 1))}</span>
                  {plain(file.path.slice(file.path.lastIndexOf("/") + 1))}
                </span>
                <PlusMinus added={file.added} removed={file.removed} />
              </button>
            </li>
          ))}
        </ul>
        {props.rights.mayDrive && (
          <p>
            <button type="button" class="btn btn-quiet flush" onClick={props.onDiff}>
              Show the diff, or go back
            </button>
          </p>
        )}
      </section>
      <Costs run={run} context={props.context} />
    </aside>
  );
}

const todoLooks = {
  completed: ["ok", "c-ok", "Done"],
  in_progress: ["running", "c-running", "In progress"],
  pending: ["todo", "dimmer", "Open"],
} as const;

function Todos({ todos }: { todos: readonly Todo[] }): JSX.Element {
  return (
    <ul class="todo">
      {todos.map(({ content, status }) => {
        const [icon, colour, word] = todoLooks[status] ?? todoLooks.pending;
        return (
          <li class={status === "completed" ? "done" : ""}>
            <Icon name={icon} class={`i-s ${colour}`} />
            <span>
              <span class="sr">{word}: </span>
              {plain(content)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

const taskLooks: Readonly<Record<LiveTask["state"], readonly [IconName, string]>> = {
  running: ["running", "c-running spin"],
  ok: ["ok", "c-ok"],
  error: ["error", "c-error"],
  stopped: ["stopped", "c-stopped"],
  queued: ["queued", "dimmer"],
};

function Tasks({ api, sessionId, tasks, rights }: Props): JSX.Element {
  const running = tasks.filter(({ state }) => state === "running").length;
  return (
    <section>
      <h2>
        Tasks and subagents
        <span class="n">{running > 0 ? `${running} running` : tasks.length}</span>
      </h2>
      <ul class="tasks">
        {tasks.map((task) => (
          <Task key={task.id} api={api} sessionId={sessionId} task={task} rights={rights} />
        ))}
      </ul>
    </section>
  );
}

function Task({ api, sessionId, task, rights }: { api: Api; sessionId: string; task: LiveTask; rights: Rights }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [log, setLog] = useState("");
  const [icon, colour] = taskLooks[task.state];
  const isRunning = task.state === "running";
  const path = `/v1/sessions/${sessionId}/tasks/${task.id}`;
  useEffect(() => {
    if (!isOpen || !task.hasLog) return;
    const read = (): void =>
      void api.get<{ lines: string[] }>(`${path}/log`).then(
        ({ lines }) => setLog(lines.slice(-200).join("\n")),
        () => setLog("Its log is not there any more."),
      );
    read();
    const timer = isRunning ? setInterval(read, 2000) : undefined;
    return () => clearInterval(timer);
  }, [isOpen, isRunning, path]);
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name={icon} class={`i-s ${colour}`} />
          <span class="t-n trunc">{task.kind === "process" ? <code>{plain(task.label)}</code> : plain(task.label)}</span>
          <Icon name="chev" class="i-s disc" />
          <span class="t-w trunc dimmer">
            {task.kind} · {plain(task.note ?? task.state)}
          </span>
        </summary>
        {task.hasLog ? (
          <pre class="out" tabIndex={0} role="group" aria-label={`Log of ${task.label}`}>
            {log === "" ? "Nothing yet" : terminal(log)}
          </pre>
        ) : (
          <p class="dimmer">Its steps are in the call that started it.</p>
        )}
        {isRunning && rights.mayDrive && task.hasLog && (
          <button
            type="button"
            class="btn btn-quiet btn-danger"
            onClick={() => void api.send("POST", `${path}/cancel`).catch(() => {})}
          >
            Stop this task
          </button>
        )}
      </details>
    </li>
  );
}

function Costs({ run, context }: Pick<Props, "run" | "context">): JSX.Element {
  const { usage, costUsd } = run.totals;
  const input = usage.input + usage.cached + usage.written;
  const last = run.steps.findLast(({ costUsd: cost }) => cost !== undefined)?.costUsd;
  return (
    <section>
      <h2>Cost</h2>
      <dl class="cost">
        <div>
          <dt>This session</dt>
          <dd>
            <b>{dollars(costUsd)}</b>
          </dd>
        </div>
        {context && (
          <>
            <div>
              <dt>Context</dt>
              <dd>
                {count(context.usedTokens)} of {count(context.maxTokens)}
              </dd>
            </div>
            <div class="w" aria-hidden="true">
              <svg class="stack">
                <rect width="100%" height="6" class="m-bg" />
                <rect width={`${Math.min(100, (context.usedTokens / context.maxTokens) * 100)}%`} height="6" class="f-new" />
              </svg>
            </div>
          </>
        )}
        <div>
          <dt>Tokens in, out</dt>
          <dd>{input === 0 ? "—" : `${count(input)}, ${count(usage.output)}`}</dd>
        </div>
        <div>
          <dt>Cache hit rate</dt>
          <dd>{percent(usage.cached, input)}</dd>
        </div>
        <div>
          <dt>Last step</dt>
          <dd>{dollars(last)}</dd>
        </div>
      </dl>
    </section>
  );
}
