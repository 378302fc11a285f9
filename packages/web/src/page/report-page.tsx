import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RunModel } from "../model/run-model.ts";
import { CostTab } from "./cost-tab.tsx";
import { OutcomeHead, Strip } from "./header.tsx";
import { Icon, Patterns } from "./icons.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { CopyButton } from "./output.tsx";
import { markFound } from "./search.ts";
import { StepsPanel } from "./steps-panel.tsx";
import { ChangesTab } from "./changes-tab.tsx";
import { FilesTab, PermissionsTab } from "./tabs.tsx";
import { plain } from "./text.tsx";
import { Timeline } from "./timeline.tsx";
import { TopBar } from "./top-bar.tsx";
import { toMarkdown } from "./to-markdown.ts";
import { useKeys } from "./use-keys.ts";
import { usePrinting } from "./use-printing.ts";
import { type TabName, tabNames, useReading } from "./use-reading.ts";

/** `download` is the same run as an ATIF trajectory, where the page has it. */
export function ReportPage({ run, download }: { run: RunModel; download?: (() => string) | undefined }): JSX.Element {
  const keys = useRef<HTMLDialogElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isPrinting = usePrinting();
  const reading = useReading(run, list, isPrinting);
  const { tab, setTab, selected, select } = reading;
  useKeys(reading, { search, dialog: keys });
  useLayoutEffect(() => markFound(list.current, tab === "steps" ? reading.query : ""));

  const counts: Partial<Record<TabName, number>> = {
    steps: run.steps.length,
    changes: run.files.length,
    permissions: run.permissions.length,
  };
  const chooseTab = (name: TabName, focus = false): void => {
    setTab(name);
    if (focus) document.getElementById(`t-${name}`)?.focus();
  };
  const onTabKey = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    chooseTab(tabNames[(tabNames.indexOf(tab) + by + tabNames.length) % tabNames.length] ?? "steps", true);
  };
  const panel = (name: TabName, children: () => JSX.Element): JSX.Element => (
    <div role="tabpanel" id={`p-${name}`} aria-labelledby={`t-${name}`} hidden={tab !== name && !isPrinting}>
      {(tab === name || isPrinting) && children()}
    </div>
  );
  return (
    <>
      <Patterns />
      <a class="skip" href="#bar">
        Skip to the steps
      </a>
      <TopBar
        crumb={
          <>
            {run.cwd && <span class="hide-s">{plain(run.cwd.split("/").at(-1) ?? "")}</span>}
            <b title={run.id}>{plain(run.title ?? run.id.slice(0, 8))}</b>
          </>
        }
        last={
          <button
            type="button"
            class="btn btn-quiet btn-i"
            aria-label="Keyboard shortcuts"
            onClick={() => keys.current?.showModal()}
          >
            <kbd class="kbd">?</kbd>
          </button>
        }
      >
        <span class="hide-s">
          <CopyButton label="Copy as Markdown" text={() => toMarkdown(run)} />
        </span>
        {download && <Download make={download} name={`${run.id}.json`} />}
      </TopBar>
      <main class="page" id="main">
        <OutcomeHead run={run} />
        <Strip run={run} />
        <Timeline run={run} selected={selected} choose={(step) => select(step)} />
        <div class="bar" id="bar" tabIndex={-1}>
          <div class="tabs" role="tablist" aria-label="Report" onKeyDown={onTabKey}>
            {tabNames.map((name) => (
              <button
                type="button"
                role="tab"
                id={`t-${name}`}
                aria-controls={`p-${name}`}
                aria-selected={tab === name}
                tabIndex={tab === name ? 0 : -1}
                onClick={() => chooseTab(name)}
              >
                {name[0]?.toUpperCase()}
                {name.slice(1)} {counts[name] !== undefined && <span class="n">{counts[name]?.toLocaleString("en-US")}</span>}
              </button>
            ))}
          </div>
        </div>
        {panel("steps", () => (
          <StepsPanel run={run} reading={reading} search={search} list={list} isPrinting={isPrinting} />
        ))}
        {panel("changes", () => (
          <>
            <h2 class="sr">Changes</h2>
            <ChangesTab run={run} />
          </>
        ))}
        {panel("cost", () => (
          <CostTab run={run} />
        ))}
        {panel("permissions", () => (
          <PermissionsTab run={run} />
        ))}
        {panel("files", () => (
          <FilesTab run={run} />
        ))}
      </main>
      <KeysDialog dialog={keys} />
    </>
  );
}

function Download({ make, name }: { make: () => string; name: string }): JSX.Element {
  const save = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([make()], { type: "application/json" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return (
    <button type="button" class="btn btn-quiet hide-s" onClick={save}>
      <Icon name="download" />
      Download ATIF
    </button>
  );
}
