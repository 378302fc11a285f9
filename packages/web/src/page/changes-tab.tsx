import type { JSX } from "preact";
import type { ChangedFile, RunModel } from "../model/run-model.ts";
import { plural } from "./format.ts";
import { Diff, PlusMinus } from "./output.tsx";
import { Empty, StepLink } from "./tabs.tsx";
import { plain } from "./text.tsx";

/** By file: what all edits came to, and each of them with the step that made it. What commands changed beside is not known. */
export function ChangesTab({ run }: { run: RunModel }): JSX.Element {
  if (run.files.length === 0)
    return <Empty fact="No file was edited.">Edits by tools are listed here; what commands changed is not known.</Empty>;
  return (
    <div class="ch">
      <nav class="ch-l" aria-label="Changed files">
        <p class="dimmer ch-s">
          {plural(run.files.length, "file")}, <PlusMinus added={run.totals.added} removed={run.totals.removed} />
        </p>
        <ul>
          {run.files.map((file, at) => (
            <li>
              <a href={`#file-${at + 1}`}>
                <span class="ch-p">
                  <span>{plain(file.path.replace(/[^/]+$/, ""))}</span>
                  <b>{plain(file.path.match(/[^/]+$/)?.[0] ?? file.path)}</b>
                </span>
                <PlusMinus added={file.added} removed={file.removed} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="ch-m">
        {run.files.map((file, at) => (
          <section class="ch-f" id={`file-${at + 1}`}>
            <h3 class="sr">{file.path}</h3>
            {file.final ? <FinalDiff file={file} final={file.final} /> : <EachEdit file={file} />}
          </section>
        ))}
      </div>
    </div>
  );
}

/** What is there now comes first; how it came about is behind it. */
function FinalDiff({
  file,
  final: { edit, steps },
}: {
  file: ChangedFile;
  final: NonNullable<ChangedFile["final"]>;
}): JSX.Element {
  return (
    <>
      {edit.rows.length === 0 ? (
        <p class="dimmer">
          <code>{plain(file.path)}</code> is as it was before.
        </p>
      ) : (
        <Diff edit={edit}>
          <span class="dimmer nowrap">
            by {steps.length === 1 ? "step" : "steps"} <StepLinks steps={steps} />
          </span>
        </Diff>
      )}
      <details class="each">
        <summary>{plural(file.edits.length, "edit")}, one by one</summary>
        <EachEdit file={file} />
      </details>
    </>
  );
}

function EachEdit({ file }: { file: ChangedFile }): JSX.Element {
  return (
    <>
      {file.edits.map(({ step, edit }) => (
        <Diff edit={edit}>
          <span class="dimmer nowrap">
            by <a href={`#step-${step}`}>step {step}</a>
          </span>
        </Diff>
      ))}
    </>
  );
}

/** Of many only the first are named. */
function StepLinks({ steps }: { steps: readonly number[] }): JSX.Element {
  const shown = steps.slice(0, 8);
  return (
    <>
      {shown.map((step, at) => (
        <>
          {at > 0 && ", "}
          <StepLink step={step} />
        </>
      ))}
      {steps.length > shown.length && ` and ${steps.length - shown.length} more`}
    </>
  );
}
