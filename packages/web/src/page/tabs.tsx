import type { ComponentChildren, JSX } from "preact";
import { allSteps } from "../model/run-builder.ts";
import type { Call, RunModel, Step } from "../model/run-model.ts";
import { duration, plural } from "./format.ts";
import { Icon } from "./icons.tsx";
import { plain } from "./text.tsx";

export function StepLink({ step }: { step: number }): JSX.Element {
  return (
    <a href={`#step-${step}`} aria-label={`Step ${step}`}>
      {step}
    </a>
  );
}

export function Empty({ fact, children }: { fact: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <b>{fact}</b>
      {children}
    </div>
  );
}

export function TableBox({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="tablewrap" tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}

export function PermissionsTab({ run }: { run: RunModel }): JSX.Element {
  const waited = run.permissions.filter((row) => row.waitMs !== undefined);
  return (
    <>
      <div class="sec">
        <h2>Permissions</h2>
        <p>
          {waited.length === 0
            ? "Nobody was asked"
            : `${plural(waited.length, "call")} asked a person; waited ${duration(run.totals.waitMs)} in all`}
          . What the mode lets run by itself is not listed.
        </p>
      </div>
      {run.permissions.length === 0 ? (
        <Empty fact="No decision is on record.">Calls that a rule, a hook or a person allowed or denied are listed here.</Empty>
      ) : (
        <TableBox label="Permissions">
          <table class="table stackable">
            <thead>
              <tr>
                <th class="num w-n">Step</th>
                <th>Decision</th>
                <th>Request</th>
                <th>Decided by</th>
                <th>Rule or reason</th>
                <th class="num">Waited</th>
              </tr>
            </thead>
            <tbody>
              {run.permissions.map((row) => (
                <tr>
                  <td class="num">{row.step > 0 ? <StepLink step={row.step} /> : "—"}</td>
                  <td>
                    <span class="st">
                      <Icon name={row.allowed ? "ok" : "denied"} class={row.allowed ? "c-ok" : "c-denied"} />
                      {row.allowed ? "Allowed" : "Denied"}
                    </span>
                  </td>
                  <td class="wrap">
                    <b>{plain(row.tool)}</b> <code>{plain(row.preview)}</code>
                  </td>
                  <td>{row.by}</td>
                  <td class="wrap">
                    {plain(row.reason)} {row.source && <span class="dimmer">{plain(row.source)}</span>}
                  </td>
                  <td class="num">{row.waitMs === undefined ? "—" : duration(row.waitMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      <div class="sec">
        <h2>Hooks</h2>
      </div>
      {run.hooks.length === 0 ? (
        <Empty fact="No hook ran.">Hooks, how often they ran and what they refused are listed here.</Empty>
      ) : (
        <TableBox label="Hooks">
          <table class="table">
            <thead>
              <tr>
                <th>Event</th>
                <th>Hook</th>
                <th class="num">Runs</th>
                <th class="num">Said no</th>
                <th class="num">Failed</th>
                <th class="num">Time</th>
              </tr>
            </thead>
            <tbody>
              {run.hooks.map((hook) => (
                <tr>
                  <td>{hook.event}</td>
                  <td class="wrap">
                    <code>{plain(hook.name)}</code>
                  </td>
                  <td class="num">{hook.runs}</td>
                  <td class="num">{hook.blocked}</td>
                  <td class="num">{hook.failed > 0 ? <b class="c-error">{hook.failed}</b> : 0}</td>
                  <td class="num">{duration(hook.ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </>
  );
}

export function FilesTab({ run }: { run: RunModel }): JSX.Element {
  const files = filesOf(run.steps);
  const commands = run.steps.flatMap((step) =>
    step.calls.filter((call) => call.kind === "bash").map((call) => ({ step: step.n, call })),
  );
  const failed = commands.filter(({ call }) => call.status === "error").length;
  return (
    <>
      <div class="sec">
        <h2>Files</h2>
        <p>{plural(files.length, "file")} read or changed by tools</p>
      </div>
      {files.length > 0 && (
        <TableBox label="Files">
          <table class="table">
            <thead>
              <tr>
                <th>Path</th>
                <th class="num">Read</th>
                <th class="num">Changed</th>
                <th>Steps</th>
              </tr>
            </thead>
            <tbody>
              {files.map((file) => (
                <tr>
                  <td class="wrap">
                    <code>{plain(file.path)}</code>
                  </td>
                  <td class="num">{file.reads || "—"}</td>
                  <td class="num">{file.edits || "—"}</td>
                  <td class="refs">
                    {file.steps.slice(0, 12).map((step) => (
                      <StepLink step={step} />
                    ))}
                    {file.steps.length > 12 && <span class="dimmer"> and {file.steps.length - 12} more</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      <div class="sec">
        <h2>Commands</h2>
        <p>
          {commands.length} run{failed > 0 ? `, ${failed} failed` : ""}
        </p>
      </div>
      {commands.length > 0 && (
        <TableBox label="Commands">
          <table class="table">
            <thead>
              <tr>
                <th class="num w-n">Step</th>
                <th>Command</th>
                <th>Result</th>
                <th class="num">Took</th>
              </tr>
            </thead>
            <tbody>
              {commands.slice(0, maxRows).map(({ step, call }) => (
                <tr>
                  <td class="num">
                    <StepLink step={step} />
                  </td>
                  <td class="wrap">
                    <code>{plain(call.preview)}</code>
                  </td>
                  <td>
                    <CallState call={call} />
                  </td>
                  <td class="num">{duration(call.tookMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {commands.length > maxRows && <p class="dimmer">{commands.length - maxRows} more are only among the steps.</p>}
        </TableBox>
      )}
    </>
  );
}

const maxRows = 1000;

function CallState({ call }: { call: Call }): JSX.Element {
  const icon = call.status === "ok" ? "ok" : call.status === "denied" ? "denied" : call.status === "error" ? "error" : "warn";
  return (
    <span class="st">
      <Icon name={icon} class={`c-${icon}`} />
      {plain(call.result || "done")}
    </span>
  );
}

type FileRow = { readonly path: string; reads: number; edits: number; steps: number[] };

function filesOf(steps: readonly Step[]): FileRow[] {
  const rows = new Map<string, FileRow>();
  const at = (path: string, step: number): FileRow => {
    const row = rows.get(path) ?? { path, reads: 0, edits: 0, steps: [] };
    rows.set(path, row);
    if (row.steps.at(-1) !== step) row.steps.push(step);
    return row;
  };
  for (const step of steps)
    for (const call of step.calls.flatMap((own) => [
      own,
      ...allSteps(own.subagent?.steps ?? []).flatMap((inner) => inner.calls),
    ])) {
      if (call.kind === "read" && call.preview !== "" && call.status === "ok") at(call.preview, step.n).reads++;
      for (const edit of call.status === "ok" ? (call.edits ?? []) : []) at(edit.path, step.n).edits++;
    }
  return [...rows.values()].sort((a, b) => b.edits - a.edits || b.reads - a.reads).slice(0, maxRows);
}
