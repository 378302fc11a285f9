import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { FileEdit, Value } from "../model/run-model.ts";
import { highlighted } from "./code.tsx";
import { bytes, plural } from "./format.ts";
import { Icon } from "./icons.tsx";
import { plain, terminal } from "./text.tsx";

const firstLines = 24;

export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }): JSX.Element {
  const [said, say] = useState("");
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => say("Copied"),
      () => say("Not allowed here"),
    );
    setTimeout(() => say(""), 2000);
  };
  return (
    <button type="button" class="btn btn-quiet" onClick={copy}>
      <Icon name="copy" class="i-s" />
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}

/** A long output shows its beginning; what is not in the page is counted where it would have been. */
export function Output({
  title,
  value,
  label,
  wraps: wrapsAtFirst = false,
}: {
  title: string;
  value: Value;
  label: string;
  wraps?: boolean;
}): JSX.Element {
  const [showsAll, showAll] = useState(false);
  const [wraps, wrap] = useState(wrapsAtFirst);
  const lines = value.text.split("\n");
  const total = lines.length + (value.cut?.lines ?? 0);
  const isShort = showsAll || (lines.length <= firstLines + 4 && value.text.length < 8000);
  const text = isShort ? value.text : lines.slice(0, firstLines).join("\n").slice(0, 8000);
  const look = `out${wraps ? " wraps" : ""}`;
  return (
    <div class="block">
      <div class="block-h">
        <span>{title}</span>
        {total > 1 && <span class="dimmer">{plural(total, "line")}</span>}
        <span class="grow" />
        <button type="button" class="btn btn-quiet" aria-pressed={wraps} onClick={() => wrap(!wraps)}>
          Wrap
        </button>
        <CopyButton text={() => value.text + (value.cut ? `\n[…]\n${value.cut.tail}` : "")} />
      </div>
      <pre class={look} tabIndex={0} role="group" aria-label={label}>
        {terminal(text)}
      </pre>
      {!isShort && (
        <div class="more">
          <span>
            {lines.length > firstLines ? `${plural(lines.length - firstLines, "more line")}` : bytes(value.text.length)}
          </span>
          <button type="button" class="btn btn-quiet" onClick={() => showAll(true)}>
            Show all
          </button>
        </div>
      )}
      {value.cut && isShort && (
        <>
          <div class="more">
            <Icon name="warn" class="i-s c-warn" />
            <span>
              <b>{plural(value.cut.lines, "line")} are not in this page</b> ({bytes(value.cut.bytes)}). It keeps 64 kB of each
              value.
            </span>
          </div>
          <pre class={look} tabIndex={0} role="group" aria-label={`End of ${label}`}>
            {terminal(value.cut.tail)}
          </pre>
        </>
      )}
    </div>
  );
}

export function PlusMinus({ added, removed }: { added: number; removed: number }): JSX.Element {
  return (
    <span class="pm">
      <span class="p">+{added}</span>
      <span class="m">−{removed}</span>
    </span>
  );
}

const maxRows = 400;
const rowClass = { "+": "add", "-": "del", " ": "", "@": "hunk" } as const;
const rowSign = { "+": "+", "-": "−", " ": "", "@": "" } as const;

export function Diff({ edit, children }: { edit: FileEdit; children?: ComponentChildren }): JSX.Element {
  const [showsAll, showAll] = useState(false);
  const rows = showsAll ? edit.rows : edit.rows.slice(0, maxRows);
  const copied = (): string => edit.rows.map(({ sign, text }) => (sign === "@" ? `@@ ${text}` : `${sign}${text}`)).join("\n");
  return (
    <div class="block">
      <div class="block-h">
        <code>{plain(edit.path)}</code>
        {edit.created && <span class="dimmer">new</span>}
        {edit.gone && <span class="dimmer">removed</span>}
        <span class="grow" />
        {children}
        <PlusMinus added={edit.added} removed={edit.removed} />
        <CopyButton text={copied} />
      </div>
      <div class="diff" tabIndex={0} role="group" aria-label={`Diff of ${edit.path}`}>
        <table>
          <tbody>
            {rows.map(({ sign, text, line }) =>
              sign === "@" ? (
                <tr class="hunk">
                  <td class="ln">⋯</td>
                  <td colSpan={2}>{plain(text.replace(/^@@.*?@@\s?/, "")) || ""}</td>
                </tr>
              ) : (
                <tr class={rowClass[sign]}>
                  <td class="ln">{line ?? ""}</td>
                  <td class="sg">{rowSign[sign]}</td>
                  <td class="tx">{text === "" ? " " : highlighted(text, edit.path)}</td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
      {rows.length < edit.rows.length && (
        <div class="more">
          <span>{plural(edit.rows.length - rows.length, "more line")}</span>
          <button type="button" class="btn btn-quiet" onClick={() => showAll(true)}>
            Show all
          </button>
        </div>
      )}
    </div>
  );
}
